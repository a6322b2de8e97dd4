"""What lesson 05 says of compiled kernels, read in the machine code of an H100."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from benchmarks.record_float64 import kernels
from gpu_course.hardware.compute_capability import capability
from gpu_course.hardware.occupancy import occupancy
from tests.course import sass
from tests.course.sass import Machine

pytestmark = pytest.mark.skipif(
    sass.tools() is None, reason="needs numba-cuda and the wheel nvidia-cuda-nvcc"
)
SMS_OF_AN_H100 = 132


@pytest.fixture
def machine(tmp_path: Path) -> Any:
    """Compiles a solution of the lesson, with some of its text replaced."""

    def compiled(name: str, function: str = "", *changes: tuple[str, str]) -> Machine:
        key = f"05_reductions_and_scans/{name}:{function or name}"
        found = next(rest for found, *rest in kernels() if found == key)
        text = found[0].read_text(encoding="utf-8")
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return sass.compiled(getattr(module, found[1]).py_func, found[3], tmp_path)

    return compiled


def test_a_scan_sends_all_its_loads_off_and_needs_no_fence(machine: Any) -> None:
    found = machine("scan_lookback")
    assert found.loads_in_flight() == found.count("LDG") == 15
    assert found.stack_bytes == 0, "the numbers of a thread are in registers"
    assert not found.count("MEMBAR")
    room = occupancy(capability("9.0"), found.registers, found.shared_bytes, 128)
    assert room.blocks * SMS_OF_AN_H100 > 1000


def test_a_piece_sends_its_eight_loads_off_together(machine: Any) -> None:
    found = machine("deterministic_sum", "sum_pieces")
    assert found.loads_in_flight() == found.count("LDG") == 8
    by_index = machine(
        "deterministic_sum",
        "sum_pieces",
        ("        rest = a[piece * PIECE + t :]\n", ""),
        ("rest[k * TPB]", "a[piece * PIECE + t + k * TPB]"),
    )
    more = len(by_index.instructions) - len(found.instructions)
    assert 7 <= more / 8 <= 11, "for each load"


def test_loads_move_up_across_additions_to_a_table_in_shared_memory_alone(machine: Any) -> None:
    assert machine("histogram_private").loads_in_flight() >= 3
    in_global = machine(
        "histogram_private", "", ("add(own, values[i], 1)", "add(counts, values[i], 1)")
    )
    assert in_global.loads_in_flight() == 1


def test_a_key_of_four_bytes_takes_one_shuffle(machine: Any) -> None:
    assert machine("segmented_sum").count("SHFL") == 11
    assert machine("segmented_sum", "", ("int32(-1)", "-1")).count("SHFL") == 17


def test_an_atomic_whose_old_number_is_not_used_is_a_reduction(machine: Any) -> None:
    found = machine("histogram")
    assert found.count("RED") == 1 and not found.count("ATOM")


def test_each_fence_empties_the_first_cache(machine: Any) -> None:
    found = machine("last_block_sum")
    assert found.count("MEMBAR") == found.count("CCTL.IVALL") == 2


def test_an_increment_that_wraps_round_takes_unsigned_numbers_alone(tmp_path: Path) -> None:
    from numba import cuda, types
    from numba.core.errors import TypingError

    def one_more(counter):  # type: ignore[no-untyped-def]
        cuda.atomic.inc(counter, 0, 3)

    for kind in types.uint32, types.uint64:
        assert sass.compiled(one_more, [kind[::1]], tmp_path).instructions
    for kind in types.int32, types.int64:
        with pytest.raises(TypingError):
            sass.compiled(one_more, [kind[::1]], tmp_path)

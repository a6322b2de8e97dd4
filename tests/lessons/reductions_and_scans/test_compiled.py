"""What lesson 05 says of compiled kernels, read in the machine code of an H100."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.programs.course_kernels import kernels, load
from gpu_course.errors import CourseError
from gpu_course.hardware.compiled.compiler import compile_kernel
from gpu_course.hardware.compiled.listing import Compiled
from gpu_course.hardware.compiled.toolchain import has_compiler
from gpu_course.hardware.compute_capability import capability
from gpu_course.hardware.occupancy import occupancy

pytestmark = [
    pytest.mark.long(15),
    pytest.mark.skipif(not has_compiler(), reason="needs the extra compile"),
]
H100 = "9.0"
SMS_OF_AN_H100 = 132


@dataclass(frozen=True)
class Machine:
    """A kernel in machine code, and what is counted in it.

    Attributes:
        compiled: what the compiler made of it.
    """

    compiled: Compiled

    def count(self, opcode: str) -> int:
        """Returns how many instructions begin with a name, such as "SHFL"."""
        return sum(each.opcode.startswith(opcode) for each in self.compiled.instructions)

    def loads_in_flight(self) -> int:
        """Returns the most loads from global memory sent off before the first of them is used."""
        most, pending = 0, set[str]()
        for each in self.compiled.instructions:
            registers = re.findall(r"\bR\d+\b", each.text)
            stores = each.opcode.startswith(("ST", "RED", "ATOM"))
            if each.opcode.startswith("LDG"):
                pending.add(registers[0])
                most = max(most, len(pending))
            elif pending & set(registers if stores else registers[1:]):
                pending.clear()
        return most


@pytest.fixture
def machine(tmp_path: Path) -> Any:
    """Compiles a solution of the lesson for an H100, with some of its text replaced."""

    def compiled(name: str, function: str = "", *changes: tuple[str, str]) -> Machine:
        key = f"05_reductions_and_scans/{name}:{function or name}"
        file, kernel, _, arguments = next(rest for found, *rest in kernels() if found == key)
        text = file.read_text(encoding="utf-8")
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        return Machine(
            compile_kernel(lambda: load(path, kernel), kernel, arguments, H100, lines=False)
        )

    return compiled


def test_a_scan_sends_all_its_loads_off_and_needs_no_fence(machine: Any) -> None:
    found = machine("scan_lookback")
    assert found.loads_in_flight() == found.count("LDG") == 15
    assert found.compiled.stack_bytes == 0, "the numbers of a thread are in registers"
    assert not found.count("MEMBAR")
    figures = found.compiled
    room = occupancy(capability(H100), figures.registers, figures.shared_bytes, 128)
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
    more = len(by_index.compiled.instructions) - len(found.compiled.instructions)
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


def test_an_increment_that_wraps_round_takes_unsigned_numbers_alone() -> None:
    from numba import cuda

    def one_more(counter):  # type: ignore[no-untyped-def]
        cuda.atomic.inc(counter, 0, 3)

    for kind in np.uint32, np.uint64:
        found = compile_kernel(lambda: one_more, "one_more", [np.zeros(1, kind)], H100, lines=False)
        assert Machine(found).count("ATOM") + Machine(found).count("RED") == 1
    for kind in np.int32, np.int64:
        with pytest.raises(CourseError, match="Numba does not compile one_more"):
            compile_kernel(lambda: one_more, "one_more", [np.zeros(1, kind)], H100, lines=False)

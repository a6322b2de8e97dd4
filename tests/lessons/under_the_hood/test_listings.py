"""The recorded listings: those of the kernels as they are, and whole."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import record_listings
from gpu_course.errors import UnknownName
from gpu_course.hardware.compiled.listing import kind_of
from gpu_course.hardware.compiled.toolchain import NoCompiler, has_compiler
from gpu_course.lessons.under_the_hood.listings import (
    PATH,
    compiled_here,
    names,
    opcode,
    recorded,
)

KEPT = {name: (text, function, values, capabilities)
        for name, text, function, values, capabilities in record_listings.kernels()}  # fmt: skip
ALL = [(name, each) for name, rest in KEPT.items() for each in rest[-1]]


def test_what_is_on_record_are_the_kernels_of_today() -> None:
    assert sorted(names()) == sorted(KEPT), "run python -m benchmarks.record_listings"
    assert PATH.stat().st_size < 1_000_000
    for name, (text, function, _, capabilities) in KEPT.items():
        own, _ = record_listings.kernel_text(text, function)
        for capability in capabilities:
            assert "\n".join(recorded(name, capability).lines) + "\n" == own, name


@pytest.mark.parametrize(("name", "capability"), ALL)
def test_every_instruction_belongs_to_a_line_and_is_of_a_known_kind(
    name: str, capability: str
) -> None:
    shown = recorded(name, capability)
    under = [place for line in range(len(shown.lines) + 1) for place, _, _ in shown.under(line)]
    assert sorted(under) == list(range(shown.instructions))
    assert sum(shown.mix.values()) == shown.instructions
    assert all(kind_of(opcode(text)) for _, _, text in shown.code.sass)
    assert max(live for _, live, _ in shown.code.sass) <= shown.code.registers
    assert shown.recorded and shown.source.startswith("record: numba-cuda")


def test_the_story_of_the_product_is_what_the_record_tells() -> None:
    plain, better = recorded(record_listings.RANGE), recorded("matmul_register")
    assert plain.mix["FFMA"] == better.mix["FFMA"] == 64
    assert plain.instructions > 2 * better.instructions
    assert plain.code.registers > better.code.registers
    assert plain.mix["branch"] > 10 * better.mix["branch"]
    most = max(range(1, len(plain.lines) + 1), key=lambda line: len(plain.under(line)))
    assert plain.lines[most - 1].strip() == "out[row, col] = sums[i, j]"


def test_the_stubs_show_what_their_puzzles_are_about() -> None:
    assert recorded("no_float64, the stub").mix["float64"] > 50
    stub = recorded("keep_it_in_registers, the stub")
    assert stub.code.stack_bytes == 128 and {"LDL", "STL"} <= set(stub.mix)


def test_what_is_not_on_record_is_said_with_what_is() -> None:
    with pytest.raises(UnknownName, match="no kernel 'rotate' is on record") as told:
        recorded("rotate")
    assert "fused" in told.value.hint
    with pytest.raises(UnknownName, match=r"compute capability 6\.0"):
        recorded("fused", "6.0")
    with pytest.raises(UnknownName, match="has no line with"):
        recorded("fused").line_of("syncthreads")


def test_ptx_of_a_line_has_no_labels_and_no_declarations() -> None:
    shown = recorded("fused")
    under = shown.ptx_under(shown.line_of("out[i]"))
    assert any(text.startswith("fma.rn.f32") for text in under)
    assert sum(text.startswith("ld.global") for text in under) == 2


def own(out, a):
    out[0] = a[0]


@pytest.mark.skipif(has_compiler(), reason="there is a compiler here")
def test_without_a_compiler_the_one_command_is_told() -> None:
    with pytest.raises(NoCompiler) as told:
        compiled_here(own, np.zeros(1, np.float32), np.zeros(1, np.float32))
    assert "pip install" in told.value.hint


@pytest.mark.skipif(not has_compiler(), reason="needs the extra compile")
@pytest.mark.parametrize(("name", "capability"), ALL)
def test_the_compiler_says_so_again(name: str, capability: str) -> None:
    text, function, values, _ = KEPT[name]
    code = record_listings.compiled(text, function, values, capability)
    kept = recorded(name, capability).code
    assert (code.registers, code.stack_bytes, code.spill_bytes) == (
        kept.registers, kept.stack_bytes, kept.spill_bytes,
    )  # fmt: skip
    assert [opcode(text) for _, _, text in code.sass] == [opcode(text) for _, _, text in kept.sass]


@pytest.mark.skipif(not has_compiler(), reason="needs the extra compile")
def test_lines_of_an_own_kernel_are_counted_from_its_first() -> None:
    shown = compiled_here(own, np.zeros(1, np.float32), np.zeros(1, np.float32))
    assert shown.lines[0] == "def own(out, a):" and not shown.recorded
    assert any("STG" in text for _, _, text in shown.under(2))

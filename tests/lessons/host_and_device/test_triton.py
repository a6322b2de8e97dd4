"""The record of what Triton made: it is of the program that is shown, and it adds up."""

from __future__ import annotations

import importlib.util
import math

import pytest

from benchmarks.record_triton import loop, made, mnemonic, multiply_adds, source
from gpu_course.lessons.host_and_device.shows import triton_record, triton_source, triton_table

MADE = triton_record()["capabilities"]


def test_the_record_is_of_the_program_that_is_shown() -> None:
    assert triton_record()["source"] == source()
    assert repr(triton_source()) == source().rstrip()
    assert max(len(line) for line in source().splitlines()) <= 72


@pytest.mark.parametrize("cc", MADE)
def test_a_step_has_the_multiply_adds_of_its_tile(cc: str) -> None:
    found = MADE[cc]
    assert found["in_step"] * found["multiply_adds"] == math.prod(triton_record()["tile"].values())
    assert found["in_program"] % found["in_step"] == 0
    assert found["matrix"].split(".")[0] in found["shown"]


def test_the_table_has_a_row_for_each_capability_and_fits() -> None:
    lines = repr(triton_table()).splitlines()
    assert [line.split()[0] for line in lines[3:]] == list(MADE)
    assert max(map(len, lines)) <= 70


PTX = """
    mov.b32     %r7, 136380432;
    @%p1 tcgen05.mma.cta_group::1.kind::f16 [ %r4 + 0 ], %rd1, %rd2, %r7, %p3;
$L__BB0_2:
    ld.shared.b32 %r1, [%r2];
    @%p1 tcgen05.mma.cta_group::1.kind::f16 [ %r4 + 0 ], %rd1, %rd2, %r7, %p3;
    @%p2 bra $L__BB0_2;
    bra.uni $L__BB0_9;
""".splitlines()


def test_a_loop_leaves_out_what_stands_before_it() -> None:
    start, end = loop(PTX)
    inside = [mnemonic(line) for line in PTX[start : end + 1]]
    assert [name for name in inside if name.startswith("tcgen05")] == [mnemonic(PTX[2])]
    assert mnemonic(PTX[3]) == "" and mnemonic("// a comment") == ""


def test_a_descriptor_has_the_shape() -> None:
    assert multiply_adds(PTX, mnemonic(PTX[2]), 128) == 128 * 128 * 16
    assert multiply_adds([], "mma.sync.aligned.m16n8k16.row", 64) == 2 * 16 * 8 * 16
    assert (
        multiply_adds([], "wgmma.mma_async.sync.aligned.m64n128k16.f32", 256) == 2 * 64 * 128 * 16
    )


@pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is 286 MB, and not installed here"
)
def test_triton_makes_the_record_again() -> None:
    anew = made()
    assert anew["capabilities"] == MADE or anew["versions"] != triton_record()["versions"]

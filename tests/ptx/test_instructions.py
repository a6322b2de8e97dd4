"""Each family of instructions against values worked out by hand from the PTX ISA."""

from __future__ import annotations

import math
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.ptx.instructions import RULES, UnknownInstruction
from tests.ptx.launch import launch
from tests.ptx.listing import Unreadable, parse
from tests.ptx.memory import Fault, Watch
from tests.ptx.translate import Program

INF, NAN = math.inf, math.nan
MIN32, MAX32 = 1 << 31, (1 << 31) - 1
MIN64, MAX64 = 1 << 63, (1 << 63) - 1
M32, M64 = (1 << 32) - 1, (1 << 64) - 1

REGISTERS = """
    .reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>;
    .reg .f32 %f<20>; .reg .f64 %fd<20>;
"""


def f32(value: float) -> float:
    """The float32 nearest to a number."""
    return struct.unpack("f", struct.pack("f", value))[0]


def text_of(body: str, head: str = "") -> str:
    """Returns a kernel with one parameter, the address of its results in %rd19."""
    return (
        f".version 9.0\n.target sm_80\n.address_size 64\n{head}\n.visible .entry k(\n"
        ".param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3, .param .u64 p4,\n"
        f".param .u64 p5, .param .u64 p6)\n{{{REGISTERS}\n"
        "ld.param.u64 %rd19, [p4];\n"
        f"{body}\nret;\n}}"
    )


def run(body: str, threads: int = 1, blocks: int = 1, cells: int = 64, head: str = "") -> Any:
    """Returns the uint64 cells that a kernel of this body leaves."""
    out = np.zeros(cells, np.uint64)
    launch(Program.of(text_of(body, head)), blocks, threads, [out])
    return out


def literal(register: str, value: Any) -> str:
    """Returns how a register is given a value."""
    name = register.rstrip("0123456789")
    if name == "%p":
        return f"setp.ne.s32 {register}, {int(value)}, 0;"
    if name == "%f":
        return f"mov.f32 {register}, 0f{struct.unpack('I', struct.pack('f', value))[0]:08X};"
    if name == "%fd":
        return f"mov.f64 {register}, 0d{struct.unpack('Q', struct.pack('d', value))[0]:016X};"
    width = {"%rs": 16, "%r": 32, "%rd": 64}[name]
    return f"mov.u{width} {register}, {value & ((1 << width) - 1)};"


STORES = {
    "%p": "selp.u64 %rd18, 1, 0, {0}; st.global.u64 [%rd19], %rd18;",
    "%rs": "st.global.u16 [%rd19], {0};",
    "%r": "st.global.u32 [%rd19], {0};",
    "%rd": "st.global.u64 [%rd19], {0};",
    "%f": "st.global.f32 [%rd19], {0};",
    "%fd": "st.global.f64 [%rd19], {0};",
}


def result(instruction: str, given: tuple[Any, ...]) -> Any:
    """Returns what an instruction leaves in its first operand, its others given in order."""
    rest = instruction.partition(" ")[2]
    target, *sources = [each.strip() for each in rest.split(",")]
    registers = [each for each in sources if each.startswith("%")]
    body = "\n".join(map(literal, registers, given))
    name = target.rstrip("0123456789")
    out = run(f"{body}\n{instruction};\n{STORES[name].format(target)}")
    kind = {"%f": np.float32, "%fd": np.float64}.get(name, np.uint64)
    found = out.view(kind)[0]
    return float(found) if kind is not np.uint64 else int(found)


def same(left: Any, right: Any) -> bool:
    """Whether two values are the same, zeros by their sign, NaN as NaN."""
    if isinstance(right, float):
        return (left != left and right != right) or (
            left == right and math.copysign(1, left) == math.copysign(1, right)
        )
    return left == right


TABLE: list[tuple[str, tuple[Any, ...], Any]] = [
    # Whole numbers wrap round.
    ("add.s32 %r0, %r1, %r2", (MAX32, 1), MIN32),
    ("add.s64 %rd0, %rd1, %rd2", (MAX64, 1), MIN64),
    ("add.s64 %rd0, %rd1, -3", (1,), M64 - 1),
    ("add.s16 %rs0, %rs1, %rs2", (0xFFFF, 2), 1),
    ("sub.s32 %r0, %r1, %r2", (0, 1), M32),
    ("mul.lo.s32 %r0, %r1, %r2", (0x10000, 0x10001), 0x10000),
    ("mul.lo.s64 %rd0, %rd1, %rd2", (-3, 5), M64 - 14),
    ("mul.hi.s32 %r0, %r1, %r2", (-1, 2), M32),
    ("mul.hi.u32 %r0, %r1, %r2", (M32, 2), 1),
    ("mul.hi.s64 %rd0, %rd1, %rd2", (MIN64, 2), M64),
    ("mul.wide.s32 %rd0, %r1, %r2", (-2, 3), M64 - 5),
    ("mul.wide.u32 %rd0, %r1, %r2", (M32, M32), M32 * M32),
    ("mad.lo.s32 %r0, %r1, %r2, %r3", (-2, 3, 7), 1),
    ("mad.wide.s32 %rd0, %r1, %r2, %rd3", (-2, 3, 5), M64),
    ("div.s32 %r0, %r1, %r2", (-7, 2), M32 - 2),
    ("rem.s32 %r0, %r1, %r2", (-7, 2), M32),
    ("rem.s64 %rd0, %rd1, %rd2", (7, -2), 1),
    ("div.s64 %rd0, %rd1, %rd2", (-7, -2), 3),
    ("div.u32 %r0, %r1, %r2", (-7, 2), (M32 - 6) // 2),
    ("rem.u32 %r0, %r1, %r2", (-7, 10), (M32 - 6) % 10),
    ("abs.s32 %r0, %r1", (MIN32,), MIN32),
    ("abs.s64 %rd0, %rd1", (-5,), 5),
    ("neg.s32 %r0, %r1", (MIN32,), MIN32),
    ("neg.s64 %rd0, %rd1", (5,), M64 - 4),
    ("min.s32 %r0, %r1, %r2", (-1, 1), M32),
    ("min.u32 %r0, %r1, %r2", (-1, 1), 1),
    ("max.s64 %rd0, %rd1, %rd2", (-1, 1), 1),
    ("max.u64 %rd0, %rd1, %rd2", (-1, 1), M64),
    # Bits.
    ("and.b32 %r0, %r1, %r2", (12, 10), 8),
    ("or.b64 %rd0, %rd1, %rd2", (12, 10), 14),
    ("xor.b64 %rd0, %rd1, -1", (12,), M64 - 12),
    ("not.b32 %r0, %r1", (0,), M32),
    ("not.b64 %rd0, %rd1", (1,), M64 - 1),
    ("and.pred %p0, %p1, %p2", (1, 0), 0),
    ("or.pred %p0, %p1, %p2", (1, 0), 1),
    ("xor.pred %p0, %p1, %p2", (1, 1), 0),
    ("not.pred %p0, %p1", (0,), 1),
    ("shl.b32 %r0, %r1, 31", (3,), MIN32),
    ("shl.b32 %r0, %r1, %r2", (3, 32), 0),
    ("shl.b64 %rd0, %rd1, %r2", (1, 63), MIN64),
    ("shl.b64 %rd0, %rd1, %r2", (1, -1), 0),
    ("shr.s32 %r0, %r1, %r2", (MIN32, 100), M32),
    ("shr.s64 %rd0, %rd1, 63", (-5,), M64),
    ("shr.u32 %r0, %r1, %r2", (M32, 32), 0),
    ("shr.u64 %rd0, %rd1, 59", (-1,), 31),
    ("shf.l.wrap.b32 %r0, %r1, %r2, %r3", (0x80000000, 1, 33), 3),
    ("shf.r.wrap.b32 %r0, %r1, %r2, %r3", (0, 1, 1), MIN32),
    ("shf.r.clamp.b32 %r0, %r1, %r2, %r3", (5, 7, 40), 7),
    ("popc.b32 %r0, %r1", (-1,), 32),
    ("popc.b64 %r0, %rd1", (0x8000000000000001,), 2),
    ("clz.b32 %r0, %r1", (1,), 31),
    ("clz.b64 %r0, %rd1", (0,), 64),
    ("brev.b32 %r0, %r1", (3,), 0xC0000000),
    ("brev.b64 %rd0, %rd1", (1,), MIN64),
    ("bfind.u32 %r0, %r1", (0x8000,), 15),
    ("bfind.s32 %r0, %r1", (-1,), M32),
    ("bfind.shiftamt.u32 %r0, %r1", (1,), 31),
    ("bfind.shiftamt.u32 %r0, %r1", (0,), M32),
    ("bfi.b32 %r0, %r1, %r2, 8, 4", (0xFF, 0), 0xF00),
    ("bfi.b64 %rd0, %rd1, %rd2, 32, 32", (1, 7), (1 << 32) + 7),
    ("bfe.u32 %r0, %r1, 4, 8", (0xABCD,), 0xBC),
    ("bfe.s32 %r0, %r1, 4, 8", (0xABCD,), M32 - 0x43),
    ("prmt.b32 %r0, %r1, %r2, 0x5410", (0x44332211, 0x88776655), 0x66552211),
    ("prmt.b32 %r0, %r1, %r2, 0x8880", (0x44332291, 0), 0xFFFFFF91),
    # Floats: one rounding, to the nearest or as it says.
    ("add.f32 %f0, %f1, %f2", (16777216.0, 1.0), 16777216.0),
    ("add.rn.f32 %f0, %f1, %f2", (16777216.0, 3.0), 16777220.0),
    ("add.rp.f32 %f0, %f1, %f2", (16777216.0, 1.0), 16777218.0),
    ("add.rm.f32 %f0, %f1, %f2", (1.0, -1.0), -0.0),
    ("sub.rz.f32 %f0, %f1, %f2", (16777216.0, -1.0), 16777216.0),
    ("add.f32 %f0, %f1, %f2", (3e38, 3e38), INF),
    ("add.f64 %fd0, %fd1, %fd2", (2.0**53, 1.0), 2.0**53),
    ("sub.f32 %f0, %f1, %f2", (INF, INF), NAN),
    ("mul.f32 %f0, %f1, %f2", (f32(0.1), f32(0.1)), f32(f32(0.1) * f32(0.1))),
    ("mul.rz.f32 %f0, %f1, %f2", (16777215.0, 16777215.0), 281474943156224.0),
    ("mul.f32 %f0, %f1, %f2", (2.0**-100, 2.0**-50), 0.0),
    ("mul.rp.f32 %f0, %f1, %f2", (2.0**-100, 2.0**-50), 2.0**-149),
    ("mul.f32 %f0, %f1, %f2", (0.0, INF), NAN),
    # (1 + 2^-12)^2 - 1 = 2^-11 + 2^-24, which a product rounded first would lose.
    ("fma.rn.f32 %f0, %f1, %f2, %f3", (1 + 2**-12, 1 + 2**-12, -1.0), 2**-11 + 2**-24),
    ("fma.rn.f32 %f0, %f1, %f2, %f3", (1.0, 1 + 2**-23, 2**-24), 1 + 2**-22),
    ("fma.rm.f32 %f0, %f1, %f2, %f3", (1.0, 1 + 2**-23, 2**-24), 1 + 2**-23),
    # Rounded to float64 first it would be a tie: 1 + 2^-24 + 2^-60 lies above it.
    ("fma.rn.f32 %f0, %f1, %f2, %f3", (2.0**-30, 2.0**-30, f32(1.0)), 1.0),
    ("fma.rn.f32 %f0, %f1, %f2, %f3", (1 + 2**-12, 1 + 2**-12, 2.0**-80), f32(1 + 2**-11 + 2**-23)),
    ("fma.rn.f32 %f0, %f1, %f2, %f3", (INF, 0.0, 1.0), NAN),
    ("fma.rn.f32 %f0, %f1, %f2, %f3", (1.0, 1.0, INF), INF),
    ("fma.rn.f64 %fd0, %fd1, %fd2, %fd3", (0.1, 10.0, -1.0), 2.0**-54),
    ("div.rn.f32 %f0, %f1, %f2", (1.0, 3.0), f32(1 / 3)),
    ("div.rz.f32 %f0, %f1, %f2", (2.0, 3.0), f32(2 / 3) - 2**-24),
    ("div.rn.f32 %f0, %f1, %f2", (-1.0, 0.0), -INF),
    ("div.rn.f64 %fd0, %fd1, %fd2", (0.0, 0.0), NAN),
    ("rcp.rn.f32 %f0, %f1", (3.0,), f32(1 / 3)),
    ("sqrt.rn.f32 %f0, %f1", (2.0,), f32(2**0.5)),
    ("sqrt.rn.f64 %fd0, %fd1", (-1.0,), NAN),
    ("ex2.approx.ftz.f32 %f0, %f1", (-3.0,), 0.125),
    ("ex2.approx.ftz.f32 %f0, %f1", (-130.0,), 0.0),
    ("ex2.approx.f32 %f0, %f1", (-130.0,), 2.0**-130),
    ("lg2.approx.f32 %f0, %f1", (8.0,), 3.0),
    ("rcp.approx.ftz.f32 %f0, %f1", (4.0,), 0.25),
    ("rcp.approx.ftz.f64 %fd0, %fd1", (3.0,), (1 + 0x55555 / 2**20) / 4),
    ("rcp.approx.ftz.f64 %fd0, %fd1", (-INF,), -0.0),
    ("rsqrt.approx.f32 %f0, %f1", (4.0,), 0.5),
    ("sin.approx.f32 %f0, %f1", (0.0,), 0.0),
    ("cos.approx.f32 %f0, %f1", (0.0,), 1.0),
    ("min.f32 %f0, %f1, %f2", (NAN, 1.0), 1.0),
    ("max.f32 %f0, %f1, %f2", (1.0, NAN), 1.0),
    ("max.f32 %f0, %f1, %f2", (-0.0, 0.0), 0.0),
    ("min.f32 %f0, %f1, %f2", (0.0, -0.0), -0.0),
    ("max.f64 %fd0, %fd1, %fd2", (NAN, NAN), NAN),
    ("abs.f32 %f0, %f1", (-0.0,), 0.0),
    ("neg.f64 %fd0, %fd1", (0.0,), -0.0),
    ("copysign.f32 %f0, %f1, %f2", (-1.0, 3.0), -3.0),
    ("testp.finite.f32 %p0, %f1", (INF,), 0),
    ("testp.notanumber.f64 %p0, %fd1", (NAN,), 1),
    # Comparisons: signed or not; with NaN false, but for those that say so.
    ("setp.lt.s32 %p0, %r1, %r2", (-1, 1), 1),
    ("setp.lt.u32 %p0, %r1, %r2", (-1, 1), 0),
    ("setp.ge.s64 %p0, %rd1, 0", (MIN64,), 0),
    ("setp.gt.u64 %p0, %rd1, %rd2", (MIN64, 1), 1),
    ("setp.eq.b64 %p0, %rd1, %rd2", (7, 7), 1),
    ("setp.lt.f32 %p0, %f1, %f2", (NAN, 1.0), 0),
    ("setp.ne.f32 %p0, %f1, %f2", (NAN, 1.0), 0),
    ("setp.neu.f32 %p0, %f1, %f2", (NAN, 1.0), 1),
    ("setp.ltu.f32 %p0, %f1, %f2", (NAN, 1.0), 1),
    ("setp.equ.f64 %p0, %fd1, %fd2", (NAN, 1.0), 1),
    ("setp.equ.f64 %p0, %fd1, %fd2", (2.0, 1.0), 0),
    ("setp.geu.f32 %p0, %f1, %f2", (1.0, 2.0), 0),
    ("setp.num.f32 %p0, %f1, %f2", (1.0, NAN), 0),
    ("setp.nan.f32 %p0, %f1, %f2", (1.0, NAN), 1),
    ("selp.b32 %r0, %r1, %r2, %p3", (5, 6, 0), 6),
    ("selp.f32 %f0, %f1, %f2, %p3", (5.0, 6.0, 1), 5.0),
    # Moves keep the bits.
    ("mov.b32 %r0, %f1", (1.0,), 0x3F800000),
    ("mov.b32 %f0, %r1", (0xC0000000,), -2.0),
    ("mov.b64 %rd0, %fd1", (1.0,), 0x3FF0000000000000),
    ("mov.pred %p0, %p1", (1,), 1),
    ("cvta.to.global.u64 %rd0, %rd1", (77,), 77),
    # Conversions: extended by their own sign, cut off, rounded, or brought to the nearest end.
    ("cvt.s64.s32 %rd0, %r1", (-1,), M64),
    ("cvt.u64.u32 %rd0, %r1", (-1,), M32),
    ("cvt.u32.u64 %r0, %rd1", ((5 << 32) + 9,), 9),
    ("cvt.s32.s8 %r0, %r1", (0x80,), M32 - 127),
    ("cvt.u32.u8 %r0, %r1", (0x1FF,), 0xFF),
    ("cvt.s16.s64 %rs0, %rd1", (0x18000,), 0x8000),
    ("cvt.rzi.s32.f32 %r0, %f1", (-3.9,), M32 - 2),
    ("cvt.rzi.s32.f32 %r0, %f1", (NAN,), 0),
    ("cvt.rzi.s64.f32 %rd0, %f1", (NAN,), MIN64),
    ("cvt.rzi.u32.f64 %r0, %fd1", (NAN,), MIN32),
    ("cvt.rzi.s32.f32 %r0, %f1", (3e9,), MAX32),
    ("cvt.rzi.s64.f32 %rd0, %f1", (-INF,), MIN64),
    ("cvt.rzi.u32.f32 %r0, %f1", (-1.5,), 0),
    ("cvt.rni.s32.f64 %r0, %fd1", (2.5,), 2),
    ("cvt.rmi.s64.f64 %rd0, %fd1", (-2.5,), M64 - 2),
    ("cvt.rpi.s32.f32 %r0, %f1", (2.1,), 3),
    ("cvt.rn.f32.s32 %f0, %r1", (16777217,), 16777216.0),
    ("cvt.rp.f32.s32 %f0, %r1", (16777217,), 16777218.0),
    ("cvt.rn.f32.u32 %f0, %r1", (-1,), 4294967296.0),
    ("cvt.rn.f32.s64 %f0, %rd1", (-1,), -1.0),
    # To float64 first it would be a tie.
    ("cvt.rn.f32.s64 %f0, %rd1", ((1 << 62) + (1 << 38) + 1,), 2.0**62 + 2.0**39),
    ("cvt.rn.f64.s64 %fd0, %rd1", (MAX64,), 2.0**63),
    ("cvt.rn.f64.s32 %fd0, %r1", (-7,), -7.0),
    ("cvt.rn.f32.f64 %f0, %fd1", (0.1,), f32(0.1)),
    ("cvt.rz.f32.f64 %f0, %fd1", (0.1,), f32(0.1) - 2.0**-27),
    ("cvt.f64.f32 %fd0, %f1", (f32(0.1),), f32(0.1)),
    ("cvt.rni.f32.f32 %f0, %f1", (3.5,), 4.0),
    ("cvt.rzi.f32.f32 %f0, %f1", (-0.5,), -0.0),
    ("cvt.rmi.f64.f64 %fd0, %fd1", (-0.5,), -1.0),
    ("cvt.sat.f32.f32 %f0, %f1", (NAN,), 0.0),
    ("cvt.sat.f32.f32 %f0, %f1", (1.5,), 1.0),
]


@pytest.mark.parametrize(
    ("instruction", "given", "wanted"), TABLE, ids=[f"{row[0]} {row[1]}" for row in TABLE]
)
def test_an_instruction(instruction: str, given: tuple[Any, ...], wanted: Any) -> None:
    found = result(instruction, given)
    assert same(found, wanted), f"{found!r} is not {wanted!r}"


@pytest.mark.parametrize(
    "opcode", ["tex.2d.v4.f32.s32", "add.sat.s32", "add.ftz.f32", "mma.sync.aligned", "call.uni"]
)
def test_an_unknown_instruction_fails_by_its_name(opcode: str) -> None:
    with pytest.raises(UnknownInstruction, match=rf"^{opcode} \(line 13\)"):
        run(f"{opcode} %r0, %r1, %r2;")


@pytest.mark.parametrize("operand", ["%clock64", "%envreg3", "somewhere"])
def test_an_unknown_operand_fails_by_its_name(operand: str) -> None:
    with pytest.raises(UnknownInstruction, match=operand):
        run(f"mov.u64 %rd1, {operand};")


@pytest.mark.parametrize("line", [".section x;", "ADD r1;"])
def test_a_line_outside_the_grammar_is_refused(line: str) -> None:
    with pytest.raises(Unreadable):
        parse(text_of(line))


def test_division_of_whole_numbers_by_zero_is_a_fault() -> None:
    with pytest.raises(Fault, match="division-by-zero"):
        result("div.s64 %rd0, %rd1, %rd2", (1, 0))


# Memory.


def test_vectors_narrow_cells_and_words_in_two_halves() -> None:
    out = run(
        """
        mov.u32 %r1, 0xFFFFFF80; st.global.u8 [%rd19], %r1; ld.global.s8 %r2, [%rd19];
        ld.global.u8 %r3, [%rd19]; st.global.u32 [%rd19+8], %r2; st.global.u32 [%rd19+16], %r3;
        mov.u32 %r4, 1; mov.u32 %r5, 2; st.global.v2.u32 [%rd19+24], {%r4, %r5};
        ld.global.v2.u32 {%r6, %r7}, [%rd19+24]; mov.b64 %rd1, {%r7, %r6};
        st.global.u64 [%rd19+32], %rd1; mov.b64 {%r8, %r9}, %rd1; st.global.u32 [%rd19+40], %r8;
        """
    )
    assert out[:6].tolist() == [0x80, 0xFFFFFF80, 0x80, (2 << 32) + 1, (1 << 32) + 2, 2]


def test_shared_and_local_memory() -> None:
    head = ".shared .align 4 .b8 tile[256];"
    out = run(
        """
        .local .align 8 .b8 own[16];
        mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4; mov.u64 %rd2, tile;
        add.s64 %rd3, %rd2, %rd1; st.shared.u32 [%rd3], %r1;
        mov.u64 %rd4, own; st.local.u32 [%rd4+8], %r1;
        bar.sync 0;
        mov.u32 %r2, 63; sub.s32 %r2, %r2, %r1; mul.wide.u32 %rd5, %r2, 4;
        add.s64 %rd6, %rd2, %rd5; ld.shared.u32 %r3, [%rd6];
        ld.local.u32 %r4, [%rd4+8]; mad.lo.s32 %r5, %r4, 1000, %r3;
        mul.wide.u32 %rd7, %r1, 8; add.s64 %rd8, %rd19, %rd7; st.global.u32 [%rd8], %r5;
        """,
        threads=64,
        head=head,
    )
    assert out.tolist() == [1000 * t + 63 - t for t in range(64)]


def test_dynamic_shared_memory_has_the_bytes_of_the_launch() -> None:
    text = text_of(
        "mov.u32 %r1, 7; st.shared.u32 [dyn+12], %r1; ld.shared.u32 %r2, [dyn+12];"
        "st.global.u32 [%rd19], %r2;",
        ".extern .shared .align 4 .b8 dyn[];",
    )
    out = np.zeros(1, np.uint64)
    launch(Program.of(text), 1, 1, [out], shared_bytes=16)
    assert out.tolist() == [7]
    with pytest.raises(Fault, match="out-of-bounds"):
        launch(Program.of(text), 1, 1, [out], shared_bytes=12)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("st.global.u32 [%rd19+512], 1;", "out-of-bounds"),
        ("st.global.u32 [%rd19+-4], 1;", "out-of-bounds"),
        ("mov.u64 %rd1, 0; ld.global.u32 %r1, [%rd1];", "out-of-bounds"),
        ("ld.global.u64 %rd1, [%rd19+4];", "misaligned"),
        ("add.s32 %r1, %r2, %r3;", "uninitialised-register"),
        ("trap;", "trap"),
        ("$L_1: atom.global.add.u32 %r1, [%rd19], 0; bra $L_1;", "endless-loop"),
    ],
)
def test_a_fault_has_a_kind_and_a_place(body: str, kind: str) -> None:
    with pytest.raises(Fault, match=kind) as raised:
        run(body)
    assert raised.value.kind == kind


ATOMICS = [
    ("add.u32", M32, (2,), 1),
    ("add.u64", 5, (-6,), M64),
    ("min.s32", 1, (-1,), M32),
    ("min.u32", 1, (-1,), 1),
    ("max.s64", 1, (-1,), 1),
    ("and.b32", 12, (10,), 8),
    ("or.b32", 12, (10,), 14),
    ("xor.b32", 12, (10,), 6),
    ("inc.u32", 3, (3,), 0),
    ("inc.u32", 2, (3,), 3),
    ("dec.u32", 0, (3,), 3),
    ("dec.u32", 9, (3,), 3),
    ("dec.u32", 2, (3,), 1),
    ("exch.b64", 9, (4,), 4),
    ("cas.b32", 9, (9, 4), 4),
    ("cas.b32", 8, (9, 4), 8),
]


@pytest.mark.parametrize(("name", "before", "given", "after"), ATOMICS)
def test_an_atomic_gives_the_old_value_and_leaves_the_new(
    name: str, before: int, given: tuple[int, ...], after: int
) -> None:
    width = int(name[-2:])
    r = "%r" if width == 32 else "%rd"
    sources = [f"{r}{n}" for n in range(2, 2 + len(given))]
    out = run(
        f"{literal(r + '1', before)} st.global.u{width} [%rd19], {r}1;"
        + " ".join(map(literal, sources, given))
        + f"atom.global.{name} {r}4, [%rd19], {', '.join(sources)};"
        + f"st.global.u{width} [%rd19+8], {r}4;"
    )
    assert (int(out[0]), int(out[1])) == (after, before)


def test_atomic_sums_of_floats_come_in_the_order_of_the_threads() -> None:
    body = """
        mov.u32 %r1, %tid.x; add.s32 %r1, %r1, 1; cvt.rn.f32.u32 %f1, %r1;
        div.rn.f32 %f1, 0f3F800000, %f1; atom.global.add.f32 %f2, [%rd19], %f1;
    """
    total = 0.0
    for thread in range(50):
        total = f32(total + f32(1 / (thread + 1)))
    assert float(run(body, threads=50).view(np.float32)[0]) == total


# Threads that meet.

SHUFFLES = [
    ("down", 1, 31, [*range(1, 32), 31]),
    ("up", 2, 0, [0, 1, *range(30)]),
    ("bfly", 5, 31, [lane ^ 5 for lane in range(32)]),
    ("idx", 7, 31, [7] * 32),
    ("idx", 39, 31, [7] * 32),
    ("down", 1, 0x181F, [n if n % 8 == 7 else n + 1 for n in range(32)]),
    # Lanes of an earlier part of the warp can be read, those of a later one cannot.
    ("bfly", 16, 0x181F, [*range(16), *range(16)]),
]


@pytest.mark.parametrize(("way", "by", "limit", "wanted"), SHUFFLES)
def test_a_shuffle(way: str, by: int, limit: int, wanted: list[int]) -> None:
    out = run(
        f"""
        mov.u32 %r1, %laneid; shfl.sync.{way}.b32 %r2|%p1, %r1, {by}, {limit}, -1;
        mul.wide.u32 %rd1, %r1, 8; add.s64 %rd2, %rd19, %rd1; st.global.u32 [%rd2], %r2;
        """,
        threads=32,
    )
    assert out[:32].tolist() == wanted


@pytest.mark.parametrize(
    ("vote", "wanted"),
    [
        ("vote.sync.ballot.b32 %r2, %p1, -1;", 0b11111),
        ("vote.sync.any.pred %p2, %p1, -1; selp.u32 %r2, 1, 0, %p2;", 1),
        ("vote.sync.all.pred %p2, %p1, -1; selp.u32 %r2, 1, 0, %p2;", 0),
        ("vote.sync.uni.pred %p2, %p1, -1; selp.u32 %r2, 1, 0, %p2;", 0),
        ("match.any.sync.b32 %r2, %r3, -1;", 0x11111111),
        ("match.all.sync.b32 %r2|%p2, %r3, -1;", 0),
        ("bar.red.popc.u32 %r2, 0, %p1;", 5),
        ("bar.red.or.pred %p2, 0, %p1; selp.u32 %r2, 1, 0, %p2;", 1),
        ("bar.red.and.pred %p2, 0, !%p1; selp.u32 %r2, 1, 0, %p2;", 0),
    ],
)
def test_a_vote(vote: str, wanted: int) -> None:
    out = run(
        f"""
        mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 5; and.b32 %r3, %r1, 3; {vote}
        setp.ne.s32 %p3, %r1, 0; @%p3 bra $L_1; st.global.u32 [%rd19], %r2; $L_1:
        """,
        threads=32,
    )
    assert int(out[0]) == wanted


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("@%p1 bra $L_1; bar.sync 0; $L_1:", "barrier-divergence"),
        ("@%p1 bra $L_1; shfl.sync.down.b32 %r2|%p2, %r1, 1, 31, -1; $L_1:", "inactive-lane"),
        ("@%p1 bra $L_1; vote.sync.any.pred %p2, %p1, 1; $L_1:", "inactive-lane"),
        ("shfl.sync.down.b32 %r2|%p2, %r1, 1, 31, 0xFFFF;", "inactive-lane"),
        (
            "@%p1 bra $L_1; bar.warp.sync 31; bra $L_2; $L_1: bar.sync 0; $L_2:",
            "barrier-divergence",
        ),
    ],
)
def test_threads_that_miss_each_other_are_a_fault(body: str, kind: str) -> None:
    start = "mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 4;"
    with pytest.raises(Fault) as raised:
        run(start + body, threads=32)
    assert raised.value.kind == kind


def test_a_block_may_wait_for_a_later_one() -> None:
    body = """
        mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; sub.s32 %r2, %r2, 1;
        setp.eq.s32 %p1, %r1, %r2; @%p1 bra $L_2;
        $L_1: atom.global.add.u32 %r3, [%rd19], 0; membar.gl; nanosleep.u32 100;
        setp.eq.s32 %p2, %r3, 0; @%p2 bra $L_1;
        $L_2: atom.global.add.u32 %r4, [%rd19], 1; mul.wide.u32 %rd1, %r1, 8;
        add.s64 %rd2, %rd19, %rd1; st.global.u32 [%rd2+8], %r4;
    """
    out = run(body, blocks=4)
    assert out[:5].tolist() == [4, 1, 2, 3, 0]


def test_places_of_threads_and_blocks() -> None:
    body = """
        mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ctaid.y; mov.u32 %r4, %ntid.x;
        mad.lo.s32 %r5, %r2, %r4, %r1; mad.lo.s32 %r6, %r3, 6, %r5; mul.wide.u32 %rd1, %r6, 8;
        add.s64 %rd2, %rd19, %rd1; mov.u32 %r7, %laneid; mad.lo.s32 %r7, %r3, 100, %r7;
        st.global.u32 [%rd2], %r7;
    """
    out = np.zeros(12, np.uint64)
    launch(Program.of(text_of(body)), (1, 2), (3, 2), [out])
    assert out.tolist() == [0, 1, 2, 3, 4, 5, 100, 101, 102, 103, 104, 105]


@pytest.mark.parametrize(
    ("between", "raced"), [("", True), ("bar.sync 0;", False)], ids=["plain", "barrier"]
)
def test_a_watch_sees_a_race_and_what_is_unset(between: str, raced: bool) -> None:
    body = f"""
        mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4; mov.u64 %rd2, tile;
        add.s64 %rd3, %rd2, %rd1; st.shared.u32 [%rd3], %r1; {between}
        xor.b32 %r2, %r1, 1; mul.wide.u32 %rd4, %r2, 4; add.s64 %rd5, %rd2, %rd4;
        ld.shared.u32 %r3, [%rd5];
    """
    text = text_of(body, ".shared .align 4 .b8 tile[64];")
    watch = Watch()
    launch(Program.of(text, watched=True), 1, 16, [np.zeros(1, np.uint64)], watch=watch)
    assert bool(watch.races) == raced
    assert bool(watch.unset) == raced


def test_each_rule_has_a_row() -> None:
    """No rule is there that no test here has run."""
    source = Path(__file__).read_text("utf-8")
    said = set(re.findall(r"\b[a-z][a-z0-9]*(?:\.[a-z0-9]+)+", source)) | {"ret", "trap"}
    said |= {f"atom.global.{name}" for name, *_ in ATOMICS}
    said |= {f"shfl.sync.{way}.b32" for way, *_ in SHUFFLES}
    unseen = [p.pattern for p, _ in RULES if not any(p.fullmatch(each) for each in said)]
    assert unseen == []

"""What lesson 06 says of machine code is what the record holds, and what the compiler gives."""

from __future__ import annotations

import importlib.metadata
import itertools
import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks import compiled_kernels
from gpu_course.errors import CourseError
from gpu_course.hardware.compiled.listing import Compiled as Machine
from gpu_course.hardware.compiled.listing import Instruction
from gpu_course.hardware.compiled.main_loops import MainLoop, main_loop, main_loops_text
from gpu_course.hardware.compiled.toolchain import has_compiler

pytestmark = pytest.mark.long(30)
ROOT = Path(__file__).parents[3]
RECORD = json.loads(compiled_kernels.PATH.read_text(encoding="utf-8"))
DISCUSSIONS = sorted((ROOT / "solutions" / "06_matmul").glob("*.md"))
LADDER = ("matmul_naive", "matmul_tiled", "matmul_register", "matmul_vectorized")
TOP = "matmul_double_buffered"
BOTH = ("8.0", "9.0")

ROWS = {
    "instructions for each multiply-add": lambda it: f"{it.instructions:.2f}",
    "loads from shared memory for each": lambda it: f"{it.shared_loads:.3f}",
    "registers of a thread": lambda it: str(it.registers),
    "global loads sent before one is waited for": lambda it: str(it.in_flight),
    "multiply-adds while they travel": lambda it: str(it.hidden_behind),
}
"""What a row of a discussion's table says, by the record."""


@pytest.mark.parametrize("path", DISCUSSIONS, ids=lambda path: path.stem)
def test_a_table_of_machine_code_says_what_the_record_says(path: Path) -> None:
    _, _, table = path.read_text(encoding="utf-8").partition("| in machine code for 9.0 |")
    rows = re.findall(r"(?m)^\| (.+?) \| ([\d.]+) \|$", table.partition("\n\n")[0])
    assert bool(rows) == bool(table)
    for what, number in rows:
        assert ROWS[what](main_loop(path.stem)) == number, what


def test_two_discussions_say_what_range_costs() -> None:
    def said(name: str) -> str:
        return " ".join((ROOT / f"solutions/06_matmul/{name}.md").read_text().split())

    naive = main_loop("matmul_naive with range")
    assert f"With `for p in range(k)` it is {naive.instructions:.2f}," in said("matmul_naive")
    register = main_loop("matmul_register with range and signed indices")
    assert f"it is {register.registers} registers." in said("matmul_register")
    assert main_loop("matvec with range").instructions > 7 * main_loop("matvec").instructions


@pytest.mark.parametrize("capability", BOTH)
def test_each_rung_has_fewer_instructions_or_as_many_and_fewer_barriers(capability: str) -> None:
    ladder = [main_loop(name, capability) for name in LADDER]
    for below, above in itertools.pairwise(ladder):
        assert above.instructions < below.instructions
    top = main_loop(TOP, capability)
    assert top.instructions < ladder[-1].instructions * 1.06
    assert top.barriers == 1 < ladder[-1].barriers == 2


@pytest.mark.parametrize("capability", BOTH)
def test_the_loads_are_as_wide_as_the_layout_allows_and_none_spills(capability: str) -> None:
    wide = {name: main_loop(name, capability) for name in ("matmul_vectorized", TOP)}
    for each in wide.values():
        assert (each.load_bytes, each.shared_loads) == (16, 4 / 64)
    narrow = main_loop("matmul_register", capability)
    assert (narrow.load_bytes, narrow.shared_loads) == (4, 16 / 64)
    assert main_loop("matmul_tiled", capability).shared_loads == 20 / 16
    assert not any(
        main_loop(name, each).spilled_bytes for name in RECORD["kernels"] for each in BOTH
    )


@pytest.mark.parametrize("capability", BOTH)
def test_double_buffering_has_all_products_between_a_load_and_its_use(capability: str) -> None:
    found = main_loop(TOP, capability)
    assert (found.in_flight, found.hidden_behind) == (16, 512)
    assert main_loop("matmul_vectorized", capability).hidden_behind == 0


def test_the_table_has_a_line_for_each_kernel() -> None:
    head, line = main_loops_text(["matmul_vectorized"]).splitlines()
    assert max(len(head), len(line)) <= 70
    assert line.split()[0] == "matmul_vectorized" and line.split()[3] == "16"


def test_a_kernel_without_a_record_says_how_to_make_one() -> None:
    with pytest.raises(CourseError, match="no record says what rotate is compiled to"):
        main_loop("rotate")


def test_every_kernel_of_the_lesson_is_in_the_record() -> None:
    own = {key.partition(":")[0] for key, *_ in compiled_kernels.kernels()}
    names = {name.partition("/")[2] for name in own if name.startswith("06_")}
    assert names | set(compiled_kernels.VARIANTS) == set(RECORD["kernels"])
    assert isinstance(main_loop("matvec"), MainLoop)


MACHINE_CODE = """
LDG.E R4, [R2.64]
LDG.E R5, [R2.64+0x4]
LDS.128 R8, [R6]
FFMA R1, R8, R9, R1
@!P0 BRA 0x30
BAR.SYNC.DEFER_BLOCKING 0x0
@P1 STS [R6], R5
@P1 BRA 0x0
EXIT
BRA 0x90
"""


def machine_code(text: str) -> Machine:
    """Returns a kernel of these instructions, one on each line."""
    instructions = []
    for line in text.strip().splitlines():
        opcode = next(word for word in line.split() if not word.startswith("@"))
        instructions.append(Instruction(1, opcode, line, 8))
    return Machine("kernel", "8.0", 40, 0, 0, 0, tuple(instructions), (), "by hand")


def test_a_loop_within_the_main_loop_counts_as_often_as_it_turns() -> None:
    code = compiled_kernels.Code.of(machine_code(MACHINE_CODE))
    assert code.loops == [(3, 4), (0, 7)]
    found = code.counted(products=3)
    assert (found.ffma, found.instructions) == (3, 3 + 3 * 2 + 3)
    assert found.shared_loads == {"16": 1}
    assert (found.global_loads, found.shared_stores, found.barriers) == (2, 1, 1)
    assert (found.in_flight, found.hidden_behind) == (2, 3)


@pytest.mark.skipif(not has_compiler(), reason="needs the extra compile")
def test_the_compiler_gives_what_the_record_says() -> None:
    for package, version in RECORD["compiler"].items():
        if importlib.metadata.version(package) != version:
            pytest.skip(f"the record was made with {package} {version}")
    found = compiled_kernels.compiled("matmul")
    assert RECORD["kernels"] == {
        name: {version: asdict(each) for version, each in by_capability.items()}
        for name, by_capability in found.items()
    }

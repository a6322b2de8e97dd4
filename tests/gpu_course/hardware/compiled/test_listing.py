"""What the tools printed of one kernel, read: kept as they printed it in add_ten/."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu_course.hardware.compiled.listing import (
    KINDS,
    Compiled,
    Instruction,
    kind_of,
    read_compiled,
    with_lines_of,
)

SAMPLE = Path(__file__).with_name("add_ten")
SOURCE = Path(__file__).parents[4] / "solutions" / "00_start_here" / "add_ten.py"


def printed() -> dict[str, str]:
    names = {"ptx": "add_ten.ptx", "ptxas": "ptxas.txt", "lines": "lines.json"}
    texts = {key: (SAMPLE / name).read_text() for key, name in names.items()}
    return texts | {"alive": (SAMPLE / "alive.txt").read_text()}


def read(**changed: str) -> Compiled:
    return read_compiled("add_ten", "8.0", compiler="ptxas 13.5", **(printed() | changed))


def test_figures() -> None:
    found = read()
    assert (found.registers, found.spill_bytes, found.stack_bytes, found.shared_bytes) == (
        10,
        0,
        0,
        0,
    )
    assert found.float64 == 0
    assert found.mix["LDG"] == found.mix["STG"] == found.mix["float32"] == 1
    assert sum(found.mix.values()) == len(found.instructions) == 22


def test_padding_is_left_out() -> None:
    listed = json.loads(printed()["lines"])[1][0]["sass-instructions"]
    assert listed[-1]["opcode"] == "NOP"
    assert read().instructions[-1].opcode == "BRA"


def test_each_instruction_has_a_line_of_the_file() -> None:
    lines = SOURCE.read_text().splitlines()
    found = read().by_line
    (adds,) = (n for n, text in enumerate(lines, 1) if text.strip() == "out[i] = a[i] + 10")
    assert {"LDG.E", "FADD", "STG.E"} <= {each.opcode for each in found[adds]}
    assert all(lines[line - 1].strip() for line in found)


def test_registers_alive() -> None:
    alive = [each.registers for each in read().instructions]
    assert alive[:5] == [1, 2, 2, 2, 3]
    assert max(alive) <= read().registers


def test_ptx_has_short_parameters_and_lines() -> None:
    ptx = read().ptx
    assert any("ld.param.u64" in text and "[param_" in text for _, text in ptx)
    assert not any(text.startswith((".loc", "//")) for _, text in ptx)
    (add,) = (line for line, text in ptx if text.startswith("add.f32") or "add.rn.f32" in text)
    assert add == max(read().by_line)


def test_two_listings_that_differ_are_not_read() -> None:
    with pytest.raises(ValueError, match=r"lists FADD, and then FMUL"):
        read(alive=printed()["alive"].replace("FADD R7", "FMUL R7"))
    short = "\n".join(line for line in printed()["alive"].splitlines() if "FADD" not in line)
    with pytest.raises(ValueError, match="lists 22 instructions, and then 21"):
        read(alive=short)


def test_ptxas_that_names_no_registers() -> None:
    with pytest.raises(ValueError, match="names no registers"):
        read(ptxas="ptxas info : 0 bytes gmem")


@pytest.mark.parametrize(
    ("opcode", "kind"),
    [
        ("FFMA", "FFMA"),
        ("FADD.FTZ", "float32"),
        ("DFMA", "float64"),
        ("LDS.U.128", "LDS.128"),
        ("LDG.E.64.CONSTANT", "LDG.64"),
        ("LDG.E", "LDG"),
        ("IMAD.MOV.U32", "move"),
        ("IMAD.WIDE", "integer"),
        ("ATOMG.E.ADD.STRONG.GPU", "atomic"),
        ("BAR.SYNC.DEFER_BLOCKING", "BAR"),
        ("MUFU.EX2", "special"),
        ("HGMMA.64x64x16.F32", "tensor"),
        ("NOT_AN_OPCODE", "other"),
    ],
)
def test_kinds(opcode: str, kind: str) -> None:
    assert kind_of(opcode) == kind
    assert kind.partition(".")[0] in KINDS


def code(*instructions: tuple[int, str]) -> Compiled:
    listed = tuple(Instruction(line, opcode, opcode, 1) for line, opcode in instructions)
    return Compiled("kernel", "8.0", 1, 0, 0, 0, listed, ((3, "ret;"),), "by hand")


def test_lines_of_other_code_of_the_kernel() -> None:
    lined = code((1, "S2R"), (2, "LDG"), (2, "FADD"), (3, "STG"), (3, "EXIT"))
    plain = code((0, "S2R"), (0, "LDG"), (0, "MOV"), (0, "FADD"), (0, "STG"), (0, "EXIT"))
    found = with_lines_of(plain, lined)
    assert [each.line for each in found.instructions] == [1, 2, 2, 2, 3, 3]
    assert [each.opcode for each in found.instructions] == [e.opcode for e in plain.instructions]
    assert found.aligned and not plain.aligned
    assert found.ptx == lined.ptx


def test_code_that_begins_otherwise() -> None:
    found = with_lines_of(code((0, "MOV"), (0, "EXIT")), code((7, "S2R"), (8, "EXIT")))
    assert [each.line for each in found.instructions] == [7, 8]

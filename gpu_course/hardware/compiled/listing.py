"""Compiled code as data: SASS line by line, registers alive, and what kinds of instructions.

NVIDIA's tools print; here what they printed is read.

Source: NVIDIA, CUDA Binary Utilities 13, nvdisasm (`-json -g`, `-lrm count`) and its
instruction set tables; `ptxas -v`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property


@dataclass(frozen=True)
class Instruction:
    """One machine instruction.

    Attributes:
        line: of the kernel's own file that it belongs to; 0 where that is not known.
        opcode: with its suffixes, such as "LDS.128".
        text: predicate, opcode and operands.
        registers: 32-bit registers of a thread in use there.
    """

    line: int
    opcode: str
    text: str
    registers: int

    @property
    def kind(self) -> str:
        """What it counts as, a word of KINDS, or a load or store with its width."""
        return kind_of(self.opcode)


@dataclass(frozen=True)
class Compiled:
    """What the compiler made of one kernel for one compute capability.

    Attributes:
        function: the kernel's name.
        capability: such as "8.0".
        registers: of one thread.
        spill_bytes: of one thread, written to local memory for want of registers.
        stack_bytes: of one thread, local arrays that are not in registers.
        shared_bytes: of one block, static.
        instructions: in order of their addresses; no padding.
        ptx: (line of the kernel's file, or 0 before the first; one line of PTX), in order.
        compiler: the versions that made it.
        aligned: whether the lines are those of other code of the same kernel, as like it as can be.
    """

    function: str
    capability: str
    registers: int
    spill_bytes: int
    stack_bytes: int
    shared_bytes: int
    instructions: tuple[Instruction, ...]
    ptx: tuple[tuple[int, str], ...]
    compiler: str
    aligned: bool = False

    @cached_property
    def mix(self) -> dict[str, int]:
        """Kind -> how many instructions, in the order of KINDS."""
        return mix(self.instructions)

    @cached_property
    def by_line(self) -> dict[int, tuple[Instruction, ...]]:
        """Line of the kernel's file -> its instructions, lines in order."""
        lines = sorted({each.line for each in self.instructions})
        return {n: tuple(each for each in self.instructions if each.line == n) for n in lines}

    @property
    def float64(self) -> int:
        """How many instructions compute in float64."""
        return self.mix.get("float64", 0)


KINDS = (
    "FFMA", "float32", "float64", "special", "convert", "integer", "move", "tensor",
    "LDG", "STG", "LDS", "STS", "LDL", "STL", "LDC", "atomic", "SHFL", "VOTE", "BAR", "fence",
    "branch", "other",
)  # fmt: skip
"""Kinds of instructions, as tables show them. A load or store of more than 32 bits has its width
behind it, such as "LDS.128"."""

_MEMORY = {"LDG", "STG", "LDS", "STS", "LDL", "STL"}
_KIND_OF_ROOT = {
    "FFMA": "FFMA",
    **dict.fromkeys(("LDC", "LDCU", "ULDC"), "LDC"),
    **dict.fromkeys(("ATOM", "ATOMG", "ATOMS", "RED", "REDG", "REDUX", "CREDUX"), "atomic"),
    **dict.fromkeys(("SHFL",), "SHFL"),
    **dict.fromkeys(("VOTE", "VOTEU", "MATCH"), "VOTE"),
    **dict.fromkeys(("BAR", "SYNCS", "UCGABAR"), "BAR"),
    **dict.fromkeys(("MEMBAR", "CCTL", "CCTLL", "ERRBAR", "CGAERRBAR", "FENCE"), "fence"),
    **dict.fromkeys(("MUFU",), "special"),
    **dict.fromkeys(
        ("F2F", "F2I", "I2F", "I2I", "FRND", "F2FP", "I2FP", "I2F64", "F2IP", "UI2F", "UF2I"),
        "convert",
    ),
    **dict.fromkeys(
        ("FADD", "FMUL", "FMNMX", "FSEL", "FSET", "FSETP", "FCHK", "FSWZADD", "FADD2", "FMUL2",
         "FFMA2", "FMNMX3", "UFADD", "UFMUL", "UFFMA", "UFSET", "UFSETP", "UFSEL", "UFMNMX",
         "HADD2", "HMUL2", "HFMA2", "HMNMX2", "HSET2", "HSETP2"),
        "float32",
    ),
    **dict.fromkeys(("DADD", "DMUL", "DFMA", "DSETP", "DMNMX", "DSET"), "float64"),
    **dict.fromkeys(
        ("MOV", "UMOV", "S2R", "S2UR", "CS2R", "CS2UR", "R2UR", "R2P", "P2R", "UP2UR", "UR2UP",
         "PRMT", "UPRMT", "SEL", "USEL", "MOVM", "PLOP3", "UPLOP3", "B2R", "R2B", "PSETP"),
        "move",
    ),
    **dict.fromkeys(
        ("HMMA", "IMMA", "BMMA", "DMMA", "QMMA", "OMMA", "HGMMA", "IGMMA", "QGMMA", "UTCHMMA"),
        "tensor",
    ),
    **dict.fromkeys(
        ("IMAD", "UIMAD", "IADD3", "UIADD3", "IADD", "UIADD", "IADD32I", "LEA", "ULEA", "LOP3",
         "ULOP3", "LOP", "LOP32I", "ULOP", "SHF", "USHF", "SHL", "SHR", "USHL", "USHR", "ISETP",
         "UISETP", "IMNMX", "UIMNMX", "VIMNMX", "UVIMNMX", "VIMNMX3", "VIADD", "UVIADD",
         "VIADDMNMX", "IABS", "UIABS", "POPC", "UPOPC", "FLO", "UFLO", "BREV", "UBREV", "IDP",
         "BMSK", "UBMSK", "SGXT", "USGXT", "IMUL", "VHMNMX", "IMAD32I", "VABSDIFF", "ISCADD"),
        "integer",
    ),
    **dict.fromkeys(
        ("BRA", "BRX", "JMP", "JMX", "CALL", "RET", "EXIT", "BSSY", "BSYNC", "BREAK", "BMOV",
         "YIELD", "WARPSYNC", "NANOSLEEP", "BPT", "KILL", "PREEXIT", "BRXU", "JMXU", "RPCMOV",
         "ACQBULK", "COLLECTIVE", "ENDCOLLECTIVE"),
        "branch",
    ),
}  # fmt: skip


def kind_of(opcode: str) -> str:
    """Returns what an instruction counts as.

    Examples:
        >>> [kind_of(each) for each in ("LDS.128", "LDG.E.CONSTANT", "IMAD.MOV.U32", "DADD")]
        ['LDS.128', 'LDG', 'move', 'float64']
    """
    root, *suffixes = opcode.split(".")
    if root in _MEMORY:
        wide = next((each for each in suffixes if each in ("64", "128")), "")
        return f"{root}.{wide}" if wide else root
    if root in ("IMAD", "UIMAD") and "MOV" in suffixes:
        return "move"
    return _KIND_OF_ROOT.get(root, "other")


def mix(instructions: Iterable[Instruction]) -> dict[str, int]:
    """Returns kind -> how many, in the order of KINDS."""
    found = Counter(each.kind for each in instructions)
    order = {name: place for place, name in enumerate(KINDS)}
    ranked = sorted(found, key=lambda kind: (order[kind.partition(".")[0]], kind))
    return {kind: found[kind] for kind in ranked}


_FLOAT64 = re.compile(r"\b(?:add|sub|mul|div|fma|mad|sqrt|rcp)(?:\.[a-z]+)*\.f64\b")


def float64_in_ptx(ptx: str) -> int:
    """Returns how many statements of PTX compute in float64; conversions and comparisons do not.

    Examples:
        >>> float64_in_ptx("add.rn.f64 %fd1, %fd2, %fd3; cvt.f64.f32 %fd4, %f1;")
        1
    """
    return len(_FLOAT64.findall(ptx))


def read_compiled(
    function: str, capability: str, ptx: str, ptxas: str, lines: str, alive: str, compiler: str
) -> Compiled:
    """Returns a kernel from what the tools printed of it.

    Args:
        function: its name.
        capability: such as "8.0".
        ptx: its PTX, with `.loc` lines.
        ptxas: what `ptxas -v` said.
        lines: what `nvdisasm -json -g` printed.
        alive: what `nvdisasm -lrm count` printed.
        compiler: the versions.

    Raises:
        ValueError: the tools printed something else than is known here.
    """
    used = re.search(r"Used (\d+) registers", ptxas)
    frame = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores", ptxas)
    if used is None or frame is None:
        raise ValueError(f"ptxas -v names no registers: {ptxas!r}")
    shared = re.search(r"(\d+) bytes smem", ptxas)
    instructions = tuple(_instructions(lines, alive))
    return Compiled(
        function,
        capability,
        registers=int(used[1]),
        spill_bytes=int(frame[2]),
        stack_bytes=int(frame[1]),
        shared_bytes=int(shared[1]) if shared else 0,
        instructions=instructions,
        ptx=tuple(_ptx_lines(ptx)),
        compiler=compiler,
    )


def with_lines_of(found: Compiled, other: Compiled) -> Compiled:
    """Returns compiled code with the lines of other code of the same kernel.

    Opcodes that stand in both in the same order are taken for the same; what stands between them
    belongs to the line of the one before it.

    Args:
        found: the code, whose lines are not known.
        other: code that was compiled with lines.
    """
    mine, theirs = ([each.opcode for each in code.instructions] for code in (found, other))
    lines = [0] * len(found.instructions)
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            lines[block.a + step] = other.instructions[block.b + step].line
    placed, last = [], other.instructions[0].line
    for each, line in zip(found.instructions, lines, strict=True):
        last = line or last
        placed.append(replace(each, line=last))
    return replace(found, instructions=tuple(placed), ptx=other.ptx, aligned=True)


_ROW = re.compile(
    r"^\s+/\*[0-9a-f]{4,}\*/\s+(?P<text>[^;]*\S)\s*;\s*// \|\s*(?P<registers>\d*)\s*\|"
)


def _instructions(lines: str, alive: str) -> Iterator[Instruction]:
    rows = [found for found in map(_ROW.match, alive.splitlines()) if found]
    (code,) = json.loads(lines)[1]
    given = code["sass-instructions"]
    # The end is padded with NOPs, of which one of the two listings shows fewer.
    last = max(place for place, each in enumerate(given) if each["opcode"] != "NOP") + 1
    if last > len(rows):
        raise ValueError(f"nvdisasm lists {last} instructions, and then {len(rows)}")
    line = 0
    for each, row in zip(given[:last], rows, strict=False):
        # One without a line of its own belongs to the line of the one before it.
        line = each.get("source-line", line)
        opcode = each["opcode"]
        if opcode not in row["text"]:
            raise ValueError(f"nvdisasm lists {opcode}, and then {row['text']}")
        parts = (each.get("predicate", ""), opcode, each.get("operands", "").replace(",", ", "))
        text = " ".join(part for part in parts if part)
        yield Instruction(line, opcode, text, int(row["registers"] or 0))


def _ptx_lines(ptx: str) -> Iterator[tuple[int, str]]:
    """Yields the statements of a kernel's body, each with the line of the file it comes from."""
    # Parameters carry the mangled name of the kernel, which is longer than all the rest.
    found = re.search(r"\.entry\s+([\w$]+)", ptx)
    name = found[1] if found else ""
    _, _, body = ptx.replace(f"{name}_param_", "param_").partition(".entry")
    line = 0
    for raw in body.partition("\n{")[2].rpartition("}")[0].splitlines():
        text = " ".join(raw.split())
        place = re.match(r"\.loc\s+\d+\s+(\d+)", text)
        if place:
            line = int(place[1])
        elif text and not text.startswith("//"):
            yield line, text

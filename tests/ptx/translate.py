"""From a kernel in PTX to a Python generator that is one of its threads.

The text between two labels is a stretch of Python; a number says which stretch is next. So every
branch of PTX is an assignment to that number, whatever loops it makes.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.ptx.instructions import CELLS, NAMES, Operands, UnknownInstruction
from tests.ptx.listing import Instruction, Kernel, parse
from tests.ptx.memory import Fault

PLACE = tuple(f"{name}_{axis}" for name in ("tid", "ctaid", "ntid", "nctaid") for axis in "xyz")
"""What a thread is told of where it stands, in this order."""


@dataclass
class Program:
    """A kernel that can be run.

    Attributes:
        kernel: as it was read.
        watched: see Operands.
    """

    kernel: Kernel
    watched: bool = False

    @classmethod
    def of(cls, text: str, watched: bool = False) -> Program:
        """Returns the program of a PTX text."""
        return cls(parse(text), watched)

    @cached_property
    def _written(self) -> tuple[str, dict[int, Instruction]]:
        """The Python, and which instruction each of its lines comes from."""
        return _Writing(self.kernel, Operands(self.kernel, self.watched)).text()

    @property
    def python(self) -> str:
        """The generator's text."""
        return self._written[0]

    @cached_property
    def thread(self) -> Callable[..., Iterator[Any]]:
        """(parameters, cells, touch, block, thread, place) -> one thread's generator."""
        names = dict(NAMES)
        exec(compile(self.python, self.file, "exec"), names)
        made: Callable[..., Iterator[Any]] = names["run"]
        return made

    @property
    def file(self) -> str:
        """What tracebacks call the Python of this kernel."""
        return f"<ptx {self.kernel.name}>"

    def fault_of(self, error: Exception) -> Fault:
        """Returns what a thread did, from the error that its Python met."""
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == self.file
        ]
        at = self._written[1].get(lines[-1] or 0) if lines else None
        where = f"{at.opcode} {', '.join(at.operands)} (line {at.line})" if at else "?"
        if isinstance(error, Fault):
            return Fault(error.kind, f"{error.args[0]} at {where}")
        if isinstance(error, IndexError):
            return Fault("out-of-bounds", where)
        if isinstance(error, NameError):
            return Fault("uninitialised-register", f"{error} at {where}")
        raise error


class _Writing:
    """The text of a kernel's generator while it is written."""

    def __init__(self, kernel: Kernel, ops: Operands) -> None:
        self.kernel = kernel
        self.ops = ops
        self.lines: list[str] = []
        self.origin: dict[int, Instruction] = {}
        self.stretches: list[list[Instruction]] = [[]]
        self.labels: dict[str, int] = {}
        for each in kernel.body:
            if each.label:
                self.stretches.append([])
                self.labels[each.label] = len(self.stretches) - 1
            else:
                self.stretches[-1].append(each)

    def text(self) -> tuple[str, dict[int, Instruction]]:
        self._add(0, "def run(parameters, cells, touch, block, thread, place):")
        self._add(1, f"{', '.join(PLACE)} = place")
        self._add(1, "flat_ = (tid_z * ntid_y + tid_y) * ntid_x + tid_x")
        self._add(1, "laneid = flat_ % 32; warpid = flat_ // 32; epoch = 0")
        first = len(self.lines)
        self._add(1, "next_ = 0")
        self._add(1, "while True:")
        self._tree(0, len(self.stretches), 2)
        self._add(1, "yield")
        body = "\n".join(self.lines[first:])
        used = [
            f"    {space}_{kind} = cells['{space}']['{kind}']"
            for space, kind in CELLS
            if f"{space}_{kind}[" in body
        ]
        self.lines[first:first] = used
        origin = {line + len(used): each for line, each in self.origin.items()}
        return "\n".join(self.lines) + "\n", origin

    def _add(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def _tree(self, low: int, high: int, depth: int) -> None:
        """Writes the stretches from low to high - 1, found by halving."""
        if high - low == 1:
            self._stretch(low, depth)
            return
        middle = (low + high) // 2
        self._add(depth, f"if next_ < {middle}:")
        self._tree(low, middle, depth + 1)
        self._add(depth, "else:")
        self._tree(middle, high, depth + 1)

    def _stretch(self, number: int, depth: int) -> None:
        for each in self.stretches[number]:
            if each.root == "bra" and each.parts in ((), ("uni",)):
                python = [f"next_ = {self._label(each)}", "continue"]
            else:
                python = self.ops.python(each)
            deeper = depth
            if each.guard:
                guard = self.ops.predicate(each.guard)
                self._add(depth, f"if {guard}:" if each.wanted else f"if not {guard}:")
                self.origin[len(self.lines)] = each
                deeper += 1
            for line in python:
                self._add(deeper, line)
                self.origin[len(self.lines)] = each
        self._add(depth, f"next_ = {number + 1}" if number + 1 < len(self.stretches) else "return")

    def _label(self, branch: Instruction) -> int:
        try:
            return self.labels[branch.operands[0]]
        except KeyError:
            raise UnknownInstruction(
                f"{branch.operands[0]} is no label (line {branch.line})"
            ) from None

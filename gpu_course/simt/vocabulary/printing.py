"""`print` in a kernel: each thread's line, in the order of threads, and not without end."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.simt.types import NoSuchType, Type
from gpu_course.simt.vocabulary.functions import Function, Value

if TYPE_CHECKING:
    from gpu_course.simt.machine import Machine

MOST_LINES = 1000


class Printout:
    """What the threads of a launch have printed."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.left_out = 0

    def add(self, line: str) -> None:
        """Keeps a line, as long as there is room."""
        if len(self.lines) < MOST_LINES:
            self.lines.append(line)
        else:
            self.left_out += 1

    def text(self) -> str:
        """Returns all lines, and how many more there were."""
        more = [f"... and {self.left_out:,} more lines"] if self.left_out else []
        return "".join(f"{line}\n" for line in [*self.lines, *more])


def _type(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    for type_, node in zip(arguments, nodes, strict=True):
        if not isinstance(type_, np.dtype | str):
            raise NoSuchType(f"shows numbers and strings, not {ast.unparse(node)}")
    return None


def _shown(value: Any) -> str:
    if isinstance(value, np.floating):
        return f"{value:f}"
    return str(value)


def _run(machine: Machine, call: ast.Call, arguments: Sequence[Value], result: Type) -> Value:
    room = max(0, MOST_LINES - len(machine.printout.lines))
    lanes = machine.mask.lanes
    for lane in lanes[:room].tolist():
        parts = (v[lane] if isinstance(v, np.ndarray) else v for v in arguments)
        machine.printout.add(" ".join(map(_shown, parts)))
    machine.printout.left_out += max(0, len(lanes) - room)


FUNCTIONS: dict[str, Function] = {"builtin.print": Function(_type, _run)}

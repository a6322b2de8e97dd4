"""`print` in a kernel: each thread's line, in the order of threads, and not without end."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from simt.kernel.ir import Call
from simt.kernel.types import NoSuchType, Type
from simt.machine.machine import Machine
from simt.machine.values import Value
from simt.report import MAX_LINES
from simt.vocabulary.functions import Function


def _type(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    for type_, node in zip(arguments, nodes, strict=True):
        if not isinstance(type_, np.dtype | str):
            raise NoSuchType(f"shows numbers and strings, not {ast.unparse(node)}")
        if isinstance(type_, np.dtype) and type_.kind == "c":
            shown = ast.unparse(node)
            raise NoSuchType(
                f"shows no complex number, and {shown} is one", f"print {shown}.real, {shown}.imag"
            )
    return None


def _shown(value: Any) -> str:
    if isinstance(value, np.floating):
        return f"{value:f}"
    return str(value)


def _run(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    room = max(0, MAX_LINES - len(machine.printout.lines))
    lanes = machine.mask.lanes
    for lane in lanes[:room].tolist():
        parts = (v[lane] if isinstance(v, np.ndarray) else v for v in arguments)
        machine.printout.add(" ".join(map(_shown, parts)))
    machine.printout.left_out += max(0, len(lanes) - room)


FUNCTIONS: dict[str, Function] = {"builtin.print": Function(_type, _run)}

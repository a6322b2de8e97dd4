"""Python's `operator` module in kernels: the operators by their names."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import numpy as np

from simt.kernel import types
from simt.kernel.ir import Call
from simt.kernel.types import BOOL, Type
from simt.machine.machine import Machine
from simt.machine.values import Value, compare
from simt.vocabulary.functions import Function, numbers, truth

_BINARY = {
    "add": "Add", "sub": "Sub", "mul": "Mult", "truediv": "Div", "floordiv": "FloorDiv",
    "mod": "Mod", "pow": "Pow", "and_": "BitAnd", "or_": "BitOr", "xor": "BitXor",
    "lshift": "LShift", "rshift": "RShift",
}  # fmt: skip
_COMPARE = {"eq": "Eq", "ne": "NotEq", "lt": "Lt", "le": "LtE", "gt": "Gt", "ge": "GtE"}


def _binary(operator: str) -> Function:
    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        a, b = numbers(arguments, 2, 2)
        return types.binary(operator, a, b)

    def run(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
        return machine.operation(call.line, operator, *arguments)

    return Function(type_, run)


def _compare(operator: str) -> Function:
    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        numbers(arguments, 2, 2)
        return BOOL

    def run(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
        return compare(operator, *arguments)

    return Function(type_, run)


def _not_type(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    numbers(arguments, 1, 1)
    return BOOL


def _not(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    return np.logical_not(truth(arguments[0]))


FUNCTIONS: dict[str, Function] = {
    **{f"operator.{name}": _binary(op) for name, op in _BINARY.items()},
    **{f"operator.{name}": _compare(op) for name, op in _COMPARE.items()},
    "operator.not_": Function(_not_type, _not),
    "builtin.pow": _binary("Pow"),
}

"""Python's `operator` module in kernels: the operators by their names."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import numpy as np

from gpu_course.simt import types
from gpu_course.simt.types import BOOL, Type
from gpu_course.simt.variables import Value
from gpu_course.simt.vocabulary.functions import Function, numbers, truth
from gpu_course.simt.vocabulary.machine import Machine

_BINARY: dict[str, ast.operator] = {
    "add": ast.Add(), "sub": ast.Sub(), "mul": ast.Mult(), "truediv": ast.Div(),
    "floordiv": ast.FloorDiv(), "mod": ast.Mod(), "pow": ast.Pow(), "and_": ast.BitAnd(),
    "or_": ast.BitOr(), "xor": ast.BitXor(), "lshift": ast.LShift(), "rshift": ast.RShift(),
}  # fmt: skip
_COMPARE: dict[str, ast.cmpop] = {
    "eq": ast.Eq(), "ne": ast.NotEq(), "lt": ast.Lt(), "le": ast.LtE(), "gt": ast.Gt(),
    "ge": ast.GtE(),
}  # fmt: skip


def _binary(op: ast.operator) -> Function:
    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        a, b = numbers(arguments, 2, 2)
        return types.binary(type(op).__name__, a, b)

    def run(machine: Machine, call: ast.Call, arguments: Sequence[Value], result: Type) -> Value:
        return machine.operation(call, op, *arguments)

    return Function(type_, run)


def _compare(op: ast.cmpop) -> Function:
    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        numbers(arguments, 2, 2)
        return BOOL

    def run(machine: Machine, call: ast.Call, arguments: Sequence[Value], result: Type) -> Value:
        return machine.compare(op, *arguments)

    return Function(type_, run)


def _not_type(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    numbers(arguments, 1, 1)
    return BOOL


def _not(machine: Machine, call: ast.Call, arguments: Sequence[Value], result: Type) -> Value:
    return np.logical_not(truth(arguments[0]))


FUNCTIONS: dict[str, Function] = {
    **{f"operator.{name}": _binary(op) for name, op in _BINARY.items()},
    **{f"operator.{name}": _compare(op) for name, op in _COMPARE.items()},
    "operator.not_": Function(_not_type, _not),
    "builtin.pow": _binary(ast.Pow()),
}

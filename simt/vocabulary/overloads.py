"""Functions for which Numba keeps a list of signatures, and functions of whole tuples."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simt.kernel import types
from simt.kernel.ir import Call
from simt.kernel.types import (
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    ArrayType,
    NoSuchType,
    NotSimulated,
    Signature,
    TupleType,
    Type,
    best,
)
from simt.machine.machine import Machine
from simt.machine.values import Value
from simt.vocabulary.functions import Function, cast, numbers

_Cases = tuple[Signature, ...]


def _overloaded(cases: _Cases, function: Callable[..., Value]) -> Function:
    """A function computed in the types of the signature that fits its arguments best."""
    count = len(cases[0].parameters)

    def chosen(arguments: Sequence[Type]) -> Signature:
        found = best(cases, numbers(arguments, count, count))
        if found is None:
            raise NoSuchType(f"takes no ({', '.join(map(str, arguments))})")
        return found

    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        return chosen(arguments).result

    def run(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
        wanted = chosen([a.dtype for a in arguments]).parameters
        given = [cast(a, type_) for a, type_ in zip(arguments, wanted, strict=True)]
        return cast(function(*given), result)

    return Function(type_, run)


def _of_floats(result: Callable[[np.dtype[Any]], Type], *rest: np.dtype[Any]) -> _Cases:
    return tuple(Signature((a, *rest), result(a)) for a in (FLOAT32, FLOAT64))


def _same(a: np.dtype[Any]) -> Type:
    return a


def _one_by_one(function: Callable[[float, float], float]) -> Callable[[Value, Value], Value]:
    """A function of `math` that NumPy lacks; what it refuses becomes NaN."""

    def one(x: float, y: float) -> float:
        try:
            return function(x, y)
        except ValueError:
            return math.nan

    return lambda a, b: np.vectorize(one, otypes=[np.float64])(a, b)[()]


def _flat(arguments: Sequence[Any]) -> Sequence[Any]:
    """The elements of a tuple, where it is the only argument."""
    if len(arguments) != 1:
        return arguments
    (only,) = arguments
    if isinstance(only, TupleType):
        return only.elements
    return only if isinstance(only, tuple) else arguments


def _refuse_array(name: str, arguments: Sequence[Type]) -> None:
    if len(arguments) == 1 and isinstance(arguments[0], ArrayType):
        raise NotSimulated(f"{name} of a whole array", "write the loop over its cells")


def of_tuple_too(name: str, function: Function, least: int) -> Function:
    """Returns a function that takes its arguments in one tuple as well: min((a, b, c)).

    Args:
        name: what it is called.
        function: of as many numbers as there are.
        least: how many it takes one by one; a tuple may have any number but none.
    """

    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        _refuse_array(name, arguments)
        if not isinstance(arguments[0] if len(arguments) == 1 else None, TupleType):
            numbers(arguments, least, 64)
        return function.type(_flat(arguments), nodes)

    def run(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
        return function.run(machine, call, _flat(arguments), result)

    return Function(type_, run)


def _sum_type(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    _refuse_array("sum", arguments)
    if len(arguments) != 1 or not isinstance(arguments[0], TupleType):
        raise NoSuchType("takes one tuple of numbers")
    parts = numbers(_flat(arguments), 1, 64)
    total: Type = INT64
    for part in parts:
        total = types.binary("Add", total, part)
    return total


def _sum(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    total: Value = np.int64(0)
    for part in arguments[0]:
        total = machine.operation(call.line, "Add", total, part)
    return total


def _divmod_type(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    a, b = numbers(arguments, 2, 2)
    return TupleType((types.binary("FloorDiv", a, b), types.binary("Mod", a, b)))


def _divmod(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    a, b = arguments
    return (
        machine.operation(call.line, "FloorDiv", a, b),
        machine.operation(call.line, "Mod", a, b),
    )


def _nanosleep_type(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    (time,) = numbers(arguments, 1, 1)
    if time.kind not in "iubf":
        raise NoSuchType(f"takes a number of nanoseconds, not {time}")
    return None


def _nanosleep(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    return None  # time does not pass here


_PAIRS = tuple(Signature((a, a), a) for a in (FLOAT32, FLOAT64))

FUNCTIONS: dict[str, Function] = {
    "math.modf": _overloaded(_of_floats(lambda a: TupleType((a, a)))[::-1], np.modf),
    "math.frexp": _overloaded(_of_floats(lambda a: TupleType((a, INT32))), np.frexp),
    "math.ldexp": _overloaded(_of_floats(_same, INT32), np.ldexp),
    "math.remainder": _overloaded(_PAIRS, _one_by_one(math.remainder)),
    "math.nextafter": _overloaded(_PAIRS[::-1], np.nextafter),
    "builtin.sum": Function(_sum_type, _sum),
    "builtin.divmod": Function(_divmod_type, _divmod),
    "cuda.nanosleep": Function(_nanosleep_type, _nanosleep),
}

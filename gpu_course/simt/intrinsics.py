"""The names a kernel may use: under `cuda.`, `math.` and Python's own, with type and meaning.

`VALUES` are read (`cuda.threadIdx.x`), `FUNCTIONS` are called (`cuda.grid(1)`, `math.sqrt(x)`). An
entry says which type Numba gives the result and how to compute it for a whole vector of lanes.
"""

from __future__ import annotations

import ast
import difflib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.simt import types
from gpu_course.simt.types import (
    BOOL,
    FLOAT64,
    INT32,
    INT64,
    ArrayType,
    NoSuchType,
    RangeType,
    TupleType,
    Type,
)

if TYPE_CHECKING:
    from gpu_course.simt.lanes import Lanes

Value = Any
"""A NumPy scalar where all lanes agree, else a vector, one entry per lane; or a tuple of them."""


@dataclass(frozen=True)
class Builtin:
    """A value every thread can read, such as `cuda.threadIdx.x`."""

    type: Type
    run: Callable[[Lanes], Value]


@dataclass(frozen=True)
class Function:
    """A function a kernel can call.

    Attributes:
        type: (argument types, argument nodes) -> result type; raises NoSuchType.
        run: (lanes, arguments, result type) -> value.
    """

    type: Callable[[Sequence[Type], Sequence[ast.expr]], Type]
    run: Callable[[Lanes, Sequence[Value], Type], Value]


# Where am I: indices and shapes


def _axes(name: str, pick: Callable[[Lanes, int], Value]) -> dict[str, Builtin]:
    def bind(axis: int) -> Builtin:
        return Builtin(INT32, lambda lanes: pick(lanes, axis))

    return {f"cuda.{name}.{letter}": bind(axis) for axis, letter in enumerate("xyz")}


VALUES: dict[str, Builtin] = {
    **_axes("threadIdx", lambda lanes, axis: lanes.thread_index(axis)),
    **_axes("blockIdx", lambda lanes, axis: lanes.block_index(axis)),
    **_axes("blockDim", lambda lanes, axis: np.int32(lanes.block[axis])),
    **_axes("gridDim", lambda lanes, axis: np.int32(lanes.grid[axis])),
    "cuda.laneid": Builtin(INT32, lambda lanes: lanes.lane_number()),
    "cuda.warpsize": Builtin(INT32, lambda lanes: np.int32(32)),
}


def _dimensions(nodes: Sequence[ast.expr]) -> int:
    value = nodes[0].value if len(nodes) == 1 and isinstance(nodes[0], ast.Constant) else None
    if type(value) is int and 1 <= value <= 3:
        return value
    raise NoSuchType("takes 1, 2 or 3, written as a number")


def _per_dimension(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    count = _dimensions(nodes)
    return INT64 if count == 1 else TupleType((INT64,) * count)


def _grid(lanes: Lanes, arguments: Sequence[Value], result: Type) -> Value:
    found = tuple(lanes.global_index(axis) for axis in range(_count(result)))
    return found if isinstance(result, TupleType) else found[0]


def _gridsize(lanes: Lanes, arguments: Sequence[Value], result: Type) -> Value:
    found = tuple(np.int64(lanes.grid[k] * lanes.block[k]) for k in range(_count(result)))
    return found if isinstance(result, TupleType) else found[0]


def _count(result: Type) -> int:
    return len(result.elements) if isinstance(result, TupleType) else 1


# Arithmetic


def _numbers(arguments: Sequence[Type], least: int, most: int) -> list[np.dtype[Any]]:
    if not least <= len(arguments) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise NoSuchType(f"takes {wanted} arguments, not {len(arguments)}")
    for argument in arguments:
        if not isinstance(argument, np.dtype):
            raise NoSuchType(f"takes numbers, not {argument}")
    return list(arguments)  # type: ignore[arg-type]


def _extreme(pick: Callable[[Value, Value], Value]) -> Function:
    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        numbers = _numbers(arguments, 2, 64)
        result: Type = numbers[0]
        for number in numbers[1:]:
            result = types.unify(result, number)
        return result

    def run(lanes: Lanes, arguments: Sequence[Value], result: Type) -> Value:
        found = cast(arguments[0], result)
        for other in arguments[1:]:
            found = pick(found, cast(other, result))
        return found

    return Function(type_, run)


def _smaller(a: Value, b: Value) -> Value:
    # Python's min(a, b): b only where it is less, so a NaN never wins over a.
    return _select(b < a, b, a)


def _larger(a: Value, b: Value) -> Value:
    return _select(b > a, b, a)


def _select(condition: Value, yes: Value, no: Value) -> Value:
    if not isinstance(condition, np.ndarray):
        return yes if condition else no
    return np.where(condition, yes, no)


def _real(function: Callable[..., Value], count: int = 1) -> Function:
    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        result: Type = None
        for number in _numbers(arguments, count, count):
            one = types.real(number)
            result = one if result is None else types.unify(result, one)
        return result

    def run(lanes: Lanes, arguments: Sequence[Value], result: Type) -> Value:
        return cast(function(*(cast(a, result) for a in arguments)), result)

    return Function(type_, run)


def _one(result: Callable[[np.dtype[Any]], Type], function: Callable[[Value], Value]) -> Function:
    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        return result(_numbers(arguments, 1, 1)[0])

    def run(lanes: Lanes, arguments: Sequence[Value], result: Type) -> Value:
        return cast(function(arguments[0]), result)

    return Function(type_, run)


def _abs_type(a: np.dtype[Any]) -> Type:
    return INT64 if a == BOOL else a


def _whole_type(a: np.dtype[Any]) -> Type:
    return a if a.kind in "iu" else INT64


def _float_type(a: np.dtype[Any]) -> Type:
    return a if a.kind == "f" else FLOAT64


def _predicate(function: Callable[[Value], Value]) -> Function:
    return _one(lambda a: BOOL, function)


def _to_whole(function: Callable[[Value], Value]) -> Function:
    return _one(_whole_type, function)


def _len_type(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    if len(arguments) == 1 and isinstance(arguments[0], ArrayType | TupleType):
        return INT64
    raise NoSuchType("takes one array or tuple")


def _len(lanes: Lanes, arguments: Sequence[Value], result: Type) -> Value:
    owner = arguments[0]
    return np.int64(len(owner) if isinstance(owner, tuple) else owner.shape[0])


def _range_type(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    numbers = _numbers(arguments, 1, 3)
    if any(n.kind not in "iub" for n in numbers):
        raise NoSuchType("takes whole numbers")
    if all(n == INT32 for n in numbers):
        return RangeType(INT32)
    return RangeType(types.UINT64 if all(n.kind == "u" for n in numbers) else INT64)


def _range(lanes: Lanes, arguments: Sequence[Value], result: Type) -> Value:
    assert isinstance(result, RangeType)
    parts = [cast(a, result.dtype) for a in arguments]
    one, zero = result.dtype.type(1), result.dtype.type(0)
    if len(parts) == 1:
        return zero, parts[0], one
    return parts[0], parts[1], parts[2] if len(parts) == 3 else one


def _sign_copy(a: Value, b: Value) -> Value:
    return np.copysign(a, b)


_FLOOR = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc}
_MATH_ONE = {
    "sqrt": np.sqrt, "exp": np.exp, "expm1": np.expm1, "log": np.log, "log2": np.log2,
    "log10": np.log10, "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh,
    "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "fabs": np.fabs, "degrees": np.degrees, "radians": np.radians,
}  # fmt: skip
_MATH_TWO: dict[str, Callable[..., Value]] = {
    "pow": np.power, "atan2": np.arctan2, "hypot": np.hypot, "fmod": np.fmod,
    "copysign": _sign_copy,
}  # fmt: skip
_PREDICATES = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}

BUILTINS: dict[str, Function] = {
    "range": Function(_range_type, _range),
    "len": Function(_len_type, _len),
    "min": _extreme(_smaller),
    "max": _extreme(_larger),
    "abs": _one(_abs_type, np.abs),
    "int": _to_whole(np.trunc),
    "round": _to_whole(np.round),
    "float": _one(_float_type, lambda a: a),
    "bool": _predicate(lambda a: a != 0),
}

FUNCTIONS: dict[str, Function] = {
    "cuda.grid": Function(_per_dimension, _grid),
    "cuda.gridsize": Function(_per_dimension, _gridsize),
    **{f"builtin.{name}": function for name, function in BUILTINS.items()},
    **{f"math.{name}": _real(function) for name, function in _MATH_ONE.items()},
    **{f"math.{name}": _real(function, 2) for name, function in _MATH_TWO.items()},
    **{f"math.{name}": _to_whole(function) for name, function in _FLOOR.items()},
    **{f"math.{name}": _predicate(function) for name, function in _PREDICATES.items()},
}

NAMES = frozenset(VALUES) | frozenset(FUNCTIONS)
"""Every dotted name the simulator knows, dtypes aside."""


def nearest(path: str) -> str:
    """Returns a sentence that names what was perhaps meant, or "" when nothing is near.

    >>> nearest("cuda.thredIdx.x")
    'did you mean cuda.threadIdx.x?'
    """
    close = difflib.get_close_matches(path, NAMES, n=1, cutoff=0.75)
    return f"did you mean {close[0]}?" if close else ""


def cast(value: Value, dtype: Type) -> Value:
    """Returns a value converted to a dtype as C would convert it; tuples part by part.

    >>> cast(np.float64(2.5), np.dtype("int64"))
    np.int64(2)
    """
    if isinstance(dtype, TupleType):
        return tuple(cast(v, t) for v, t in zip(value, dtype.elements, strict=True))
    if not isinstance(dtype, np.dtype) or value.dtype == dtype:
        return value
    if dtype == BOOL:
        return value != 0
    if isinstance(value, np.ndarray):
        return value.astype(dtype)
    if value.dtype.kind == "f" and dtype.kind in "iu" and not math.isfinite(value):
        return np.asarray(value).astype(dtype)[()]
    return value.astype(dtype)

"""Functions of numbers: Python's own and `math`'s, with Numba's result types."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simt.kernel import types
from simt.kernel.ir import Call
from simt.kernel.types import (
    BOOL,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    ArrayType,
    NoSuchType,
    NotSimulated,
    RangeType,
    Signature,
    TupleType,
    Type,
    best,
)
from simt.machine.machine import Machine
from simt.machine.values import Value, rounded_once
from simt.text import count
from simt.vocabulary.functions import Function, Range, cast, numbers
from simt.vocabulary.overloads import of_tuple_too


def _extreme(pick: Callable[[Value, Value], Value]) -> Function:
    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        first, *rest = numbers(arguments, 1, 64)
        result: Type = first
        for number in rest:
            result = types.unify(result, number)
        return result

    def run(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
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


def _of_two_floats(several: Function, pick: Callable[[Value, Value], Value]) -> Function:
    """min or max as Numba compiles it: of two floats one instruction, else comparisons.

    Source: numba-cuda 0.30.4, cudaimpl.py, `lower(max, types.f4, types.f4)` and those beside it.
    """

    def run(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
        if len(arguments) == 2 and all(a.dtype in (FLOAT32, FLOAT64) for a in arguments):
            return pick(*(cast(a, result) for a in arguments))
        return several.run(machine, call, arguments, result)

    return Function(several.type, run)


def _least(a: Value, b: Value) -> Value:
    # PTX: of a NaN and a number the number, and -0.0 is less than 0.0.
    return _select(a == b, _select(np.signbit(a), a, b), np.fmin(a, b))


def _greatest(a: Value, b: Value) -> Value:
    return _select(a == b, _select(np.signbit(a), b, a), np.fmax(a, b))


def _select(condition: Value, yes: Value, no: Value) -> Value:
    if not isinstance(condition, np.ndarray):
        return yes if condition else no
    return np.where(condition, yes, no)


def _real(function: Callable[..., Value]) -> Function:
    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        return types.real(numbers(arguments, 1, 1)[0])

    return Function(type_, _elementwise(function))


def _elementwise(function: Callable[..., Value]) -> Callable[..., Value]:
    def run(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
        return cast(function(*(cast(a, result) for a in arguments)), result)

    return run


# Numba lets these meet float32 without loss, and takes its float32 functions for them.
_FITS_FLOAT32 = frozenset(map(np.dtype, ("bool", "int8", "int16", "uint8", "float32")))


def _real_pair(name: str, function: Callable[..., Value]) -> Function:
    """A function of two numbers, with the overload that Numba's CUDA target picks."""

    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        a, b = numbers(arguments, 2, 2)
        types.real(a), types.real(b)
        small = {a, b} <= _FITS_FLOAT32
        if name in ("atan2", "hypot"):
            small = small and FLOAT32 in (a, b)
        if name == "pow":
            small |= a in _FITS_FLOAT32 and b == INT32
            small |= a == FLOAT32 and b == types.UINT16
        return FLOAT32 if small else FLOAT64

    return Function(type_, _elementwise(function))


def _each(function: Callable[[float], float]) -> Callable[[Value], Value]:
    """A function of `math` that NumPy lacks, lane by lane; what it refuses becomes NaN."""

    def one(x: float) -> float:
        try:
            return function(x)
        except (ValueError, OverflowError):
            return math.inf if x > 0 else math.nan

    return lambda a: np.vectorize(one, otypes=[np.float64])(a)[()]


def _one(result: Callable[[np.dtype[Any]], Type], function: Callable[[Value], Value]) -> Function:
    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        return result(numbers(arguments, 1, 1)[0])

    def run(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
        return cast(function(arguments[0]), result)

    return Function(type_, run)


def _abs_type(a: np.dtype[Any]) -> Type:
    if a.kind == "c":
        return np.dtype(f"float{4 * a.itemsize}")
    return np.dtype("int8") if a == BOOL else a


def _whole_type(a: np.dtype[Any]) -> Type:
    if a.kind == "c":
        raise NoSuchType("takes no complex number")
    return a if a.kind in "iu" else INT64


def _float_type(a: np.dtype[Any]) -> Type:
    if a.kind == "c":
        raise NoSuchType("takes no complex number")
    if a == BOOL:
        raise NoSuchType("takes no bool", "write float(int(x)), or float64(x)")
    return a if a.kind == "f" else FLOAT64


def _predicate(function: Callable[[Value], Value]) -> Function:
    return _one(lambda a: BOOL, function)


def _to_whole(function: Callable[[Value], Value]) -> Function:
    return _one(_whole_type, function)


def _len_type(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    if len(arguments) == 1 and isinstance(arguments[0], ArrayType | TupleType):
        return INT64
    if len(arguments) == 1 and isinstance(arguments[0], RangeType):
        raise NotSimulated("the length of a range", "work it out from its bounds")
    raise NoSuchType("takes one array or tuple")


def _len(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    owner = arguments[0]
    return np.int64(len(owner) if isinstance(owner, tuple) else owner.shape[0])


def _range_type(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    found = numbers(arguments, 1, 3)
    if any(n.kind == "c" for n in found):
        raise NoSuchType("takes real numbers")
    if any(n.kind == "f" for n in found):
        # Numba converts to the whole numbers that fit best, and drops fractions without a word.
        cases = [Signature((dtype,) * len(found), dtype) for dtype in (INT32, INT64, types.UINT64)]
        chosen = best(cases, found)
        assert chosen is not None
        assert isinstance(chosen.result, np.dtype)
        return RangeType(chosen.result)
    if all(n == INT32 for n in found):
        return RangeType(INT32)
    return RangeType(types.UINT64 if all(n.kind == "u" for n in found) else INT64)


def _range(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    assert isinstance(result, RangeType)
    parts = [cast(a, result.dtype) for a in arguments]
    one, zero = result.dtype.type(1), result.dtype.type(0)
    if len(parts) == 1:
        return Range((zero, parts[0], one))
    step = _usable_step(machine, call, parts[2]) if len(parts) == 3 else one
    return Range((parts[0], parts[1], step))


def _usable_step(machine: Machine, call: Call, step: Value) -> Value:
    """Returns a range's step, 1 in the lanes that do not take part and have none.

    Raises:
        KernelRefused: it is 0. Numba compiles a return there, and the error it belongs to is told
            of only by a kernel compiled for debugging.
    """
    zero = np.equal(step, 0)
    if not zero.any():
        return step
    active = machine.mask.lanes
    at_fault = active[zero[active]] if isinstance(step, np.ndarray) else active
    if not at_fault.size:
        return np.where(zero, 1, step)
    block, thread = (f"({x},{y},{z})" for x, y, z in machine.lanes.place(int(at_fault[0])))
    those = f"{count(active.size, 'thread')} that come{'s' * (active.size == 1)} here"
    raise machine.kernel.refuse(
        call.line,
        f"the step of range is 0 in {at_fault.size:,} of the {those}, "
        f"the first of them thread {thread} of block {block}",
        "step by at least 1 or by at most -1; Python raises a ValueError where a step is 0, and a "
        "GPU ends the thread without a word",
    )


def _sign_copy(a: Value, b: Value) -> Value:
    return np.copysign(a, b)


_MATH_ONE: dict[str, Callable[..., Value]] = {
    "sqrt": np.sqrt, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log,
    "log2": np.log2,
    "log10": np.log10, "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh,
    "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "erf": _each(math.erf),
    "erfc": _each(math.erfc), "gamma": _each(math.gamma), "lgamma": _each(math.lgamma),
    "fabs": np.fabs, "degrees": np.degrees, "radians": np.radians,
}  # fmt: skip
_MATH_TWO: dict[str, Callable[..., Value]] = {
    "pow": np.power, "atan2": np.arctan2, "hypot": np.hypot, "fmod": np.fmod,
    "copysign": _sign_copy,
}  # fmt: skip
# One operation each, which every processor rounds alike, or no rounding at all.
_EXACT = frozenset("sqrt floor ceil trunc fabs degrees radians fmod copysign".split())


def _alike(functions: dict[str, Callable[..., Value]]) -> dict[str, Callable[..., Value]]:
    return {n: f if n in _EXACT else rounded_once(f) for n, f in functions.items()}


_PREDICATES = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}


def _round_type(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    parts = numbers(arguments, 1, 2)
    if any(p.kind == "c" for p in parts):
        raise NoSuchType("takes no complex number")
    if len(parts) == 1:
        return INT64
    return FLOAT32 if parts[0] == FLOAT32 else FLOAT64


def _round(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    if len(arguments) == 1:
        return cast(np.round(arguments[0]), result)
    return cast(_rounded(cast(arguments[0], FLOAT64), cast(arguments[1], INT64)), result)


def _rounded(x: Value, digits: Value) -> Value:
    """x to so many digits, as Numba computes it: scaled in float64, a half to the even side."""
    # Two factors, since 10 ** digits alone may be too large. Source: numba/cuda/cudaimpl.py.
    first = np.power(10.0, np.where(digits > 22, digits - 22, np.abs(digits)))
    second = np.where(digits > 22, 1e22, 1.0)
    scaled = np.where(digits >= 0, x * first * second, x / first)
    whole = np.rint(scaled)
    whole = np.where(digits >= 0, whole / second / first, whole * first)
    beyond = ~np.isfinite(x) | ((digits >= 0) & np.isinf(scaled))
    return np.where(beyond, x, whole)[()]


def _float(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    (value,) = arguments
    return np.float64(float(value)) if isinstance(value, str) else cast(value, result)


def _float_from(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    text: Any = arguments[0] if len(arguments) == 1 else None
    if isinstance(text, str):
        try:
            float(text)
        except ValueError:
            raise NoSuchType(f"{text!r} is not a number") from None
        return FLOAT64
    return _float_type(numbers(arguments, 1, 1)[0])


def _complex_type(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    parts = numbers(arguments, 1, 2)
    if any(p.kind == "c" for p in parts):
        raise NoSuchType("takes its two parts as real numbers")
    small = all(p in (FLOAT32, types.FLOAT16) for p in parts)
    return np.dtype(np.complex64 if small else np.complex128)


def _complex(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    real, imaginary = (*arguments, np.int64(0))[:2]
    assert isinstance(result, np.dtype)
    part = np.dtype(f"float{4 * result.itemsize}")
    shape = np.broadcast_shapes(np.shape(real), np.shape(imaginary))
    found = np.empty(shape, result)
    found.real, found.imag = cast(real, part), cast(imaginary, part)
    return found[()]


BUILTINS: dict[str, Function] = {
    "range": Function(_range_type, _range),
    "len": Function(_len_type, _len),
    "min": _of_two_floats(of_tuple_too("min", _extreme(_smaller), 2), _least),
    "max": _of_two_floats(of_tuple_too("max", _extreme(_larger), 2), _greatest),
    "abs": _one(_abs_type, np.abs),
    "int": _to_whole(np.trunc),
    "round": Function(_round_type, _round),
    "float": Function(_float_from, _float),
    "bool": _predicate(lambda a: a != 0),
    "complex": Function(_complex_type, _complex),
}

FUNCTIONS: dict[str, Function] = {
    **{f"builtin.{name}": function for name, function in BUILTINS.items()},
    **{f"math.{name}": _real(function) for name, function in _alike(_MATH_ONE).items()},
    **{f"math.{name}": _real_pair(name, function) for name, function in _alike(_MATH_TWO).items()},
    **{f"math.{name}": _predicate(function) for name, function in _PREDICATES.items()},
}

"""`cuda.libdevice`: NVIDIA's functions of single numbers, each for one width.

A name without an ending takes and gives float64, or int32; one that ends in `f` float32, one in
`ll` int64. What `fast_` gives up in accuracy is not imitated: it is as exact as its twin.

Source: NVIDIA, "libdevice User's Guide"; which functions there are and their types are those of
numba-cuda 0.30, "numba/cuda/libdevicefuncs.py".
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simt.kernel.ir import Call
from simt.kernel.types import (
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    UINT32,
    UINT64,
    NoSuchType,
    TupleType,
    Type,
)
from simt.machine.machine import Machine
from simt.machine.values import Value, rounded_once
from simt.vocabulary import bits, scalar_functions
from simt.vocabulary.conversions import CONVERSIONS
from simt.vocabulary.functions import Function, cast, numbers

Dtype = np.dtype[Any]
Operation = Callable[..., Value]


def _function(given: Sequence[Dtype], result: Type, operation: Operation) -> Function:
    """A function of arguments that are converted to these types."""

    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        for each in numbers(arguments, len(given), len(given)):
            if each.kind == "c":
                raise NoSuchType("takes no complex number")
        return result

    def run(machine: Machine, call: Call, arguments: Sequence[Value], wanted: Type) -> Value:
        parts = [cast(a, dtype) for a, dtype in zip(arguments, given, strict=True)]
        return cast(operation(*parts), wanted)

    return Function(type_, run)


def _counted(given: Sequence[Dtype], result: Dtype, operation: Operation) -> Function:
    """The same, where each call is one operation of a report."""
    inner = _function(given, result, operation)

    def run(machine: Machine, call: Call, arguments: Sequence[Value], wanted: Type) -> Value:
        machine.audience.operations(call.line, result.name, machine.mask.count)
        return inner.run(machine, call, arguments, wanted)

    return Function(inner.type, run)


def _fused(dtype: Dtype) -> Function:
    inner = _function([dtype] * 3, dtype, bits.fused)

    def run(machine: Machine, call: Call, arguments: Sequence[Value], wanted: Type) -> Value:
        bits.count_fused(machine, call.line, dtype)
        return inner.run(machine, call, arguments, wanted)

    return Function(inner.type, run)


def _of_math(name: str) -> Function:
    return scalar_functions.FUNCTIONS[f"math.{name}"]


def _as_math(name: str, dtype: Dtype) -> Function:
    """The function of `math`, for one width."""
    inner = _of_math(name)

    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        given = numbers(arguments, 1, 2)
        if any(each.kind == "c" for each in given):
            raise NoSuchType("takes no complex number")
        inner.type([dtype] * len(given), nodes)
        return dtype

    def run(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
        return inner.run(machine, call, [cast(a, dtype) for a in arguments], dtype)

    return Function(type_, run)


def _round(x: Value) -> Value:
    """To the nearest whole number, a half away from zero."""
    # x + 0.5 would itself be rounded: the largest number below a half would become 1.
    whole = np.trunc(x)
    return np.copysign(np.abs(whole) + (np.abs(x - whole) >= 0.5).astype(x.dtype), x)


def _logb(x: Value) -> Value:
    whole, exponent = np.frexp(np.abs(x))  # whole is 0.5 to 1, and a logarithm would be rounded
    found = np.where(np.isfinite(whole), exponent - 1.0, whole)
    return np.where(whole == 0, -np.inf, found).astype(x.dtype)[()]


def _sine_and_cosine(x: Value) -> Value:
    return rounded_once(np.sin)(x), rounded_once(np.cos)(x)


def _normcdf(x: Value) -> Value:
    whole = np.asarray(x, np.float64)
    found = [0.5 * math.erfc(-each / math.sqrt(2)) for each in np.ravel(whole).tolist()]
    return np.asarray(found).reshape(whole.shape)[()]


_MATH = (
    "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh erf erfc exp exp2 expm1 fabs "
    "floor fmod hypot lgamma log log10 log1p log2 pow sin sinh sqrt tan tanh trunc"
).split()
_ONE: dict[str, Operation] = {
    "cbrt": np.cbrt, "exp10": lambda x: np.power(x.dtype.type(10), x), "logb": _logb,
    "nearbyint": np.rint, "normcdf": _normcdf, "rcbrt": lambda x: 1 / np.cbrt(x), "rint": np.rint,
    "round": _round, "rsqrt": lambda x: 1 / np.sqrt(x),
}  # fmt: skip
_TWO: dict[str, Operation] = {
    "fdim": lambda x, y: np.maximum(x - y, x.dtype.type(0)), "fmax": np.fmax, "fmin": np.fmin,
    "nextafter": np.nextafter,
    "remainder": lambda x, y: x - np.rint(x / y) * y,
}  # fmt: skip
_FAST = {
    "fast_cosf": "cos", "fast_expf": "exp", "fast_log10f": "log10", "fast_log2f": "log2",
    "fast_logf": "log", "fast_powf": "pow", "fast_sinf": "sin", "fast_tanf": "tan",
}  # fmt: skip
_ASKED: dict[str, tuple[Dtype, Operation]] = {
    "isinfd": (FLOAT64, np.isinf), "isinff": (FLOAT32, np.isinf),
    "isnand": (FLOAT64, np.isnan), "isnanf": (FLOAT32, np.isnan),
    "isfinited": (FLOAT64, np.isfinite), "finitef": (FLOAT32, np.isfinite),
    "signbitd": (FLOAT64, np.signbit), "signbitf": (FLOAT32, np.signbit),
}  # fmt: skip


def _both_widths() -> dict[str, Function]:
    found: dict[str, Function] = {}
    for ending, dtype in (("", FLOAT64), ("f", FLOAT32)):
        found |= {f"{name}{ending}": _as_math(name, dtype) for name in _MATH}
        found |= {
            f"{n}{ending}": _function([dtype], dtype, rounded_once(f)) for n, f in _ONE.items()
        }
        found |= {f"{n}{ending}": _function([dtype] * 2, dtype, f) for n, f in _TWO.items()}
        found[f"tgamma{ending}"] = _as_math("gamma", dtype)
        found |= {f"fma{ending}{how}": _fused(dtype) for how in ("", "_rn")}
        pair = TupleType((dtype, dtype))
        found[f"sincos{ending}"] = _function([dtype], pair, _sine_and_cosine)
    return found


_APART: dict[str, tuple[Dtype, Operation]] = {
    "fadd_rn": (FLOAT32, np.add), "fsub_rn": (FLOAT32, np.subtract),
    "fmul_rn": (FLOAT32, np.multiply), "dadd_rn": (FLOAT64, np.add),
    "dmul_rn": (FLOAT64, np.multiply),
}  # fmt: skip
"""Sums and products of which no compiler makes one operation."""

FLOATS: dict[str, Function] = {
    **_both_widths(),
    **{name: _counted([dtype] * 2, dtype, f) for name, (dtype, f) in _APART.items()},
    **{name: _as_math(twin, FLOAT32) for name, twin in _FAST.items()},
    **{name: _function([dtype], INT32, f) for name, (dtype, f) in _ASKED.items()},
    "fast_exp10f": _function([FLOAT32], FLOAT32, rounded_once(_ONE["exp10"])),
    "fast_fdividef": _function([FLOAT32] * 2, FLOAT32, np.divide),
    "saturatef": _function(
        [FLOAT32], FLOAT32, lambda x: np.where(np.isnan(x), np.float32(0), np.clip(x, 0, 1))[()]
    ),
}
WHOLE: dict[str, Function] = {
    "abs": _function([INT32], INT32, np.abs),
    "llabs": _function([INT64], INT64, np.abs),
    "min": _function([INT32] * 2, INT32, np.minimum),
    "max": _function([INT32] * 2, INT32, np.maximum),
    "llmin": _function([INT64] * 2, INT64, np.minimum),
    "llmax": _function([INT64] * 2, INT64, np.maximum),
    "umin": _function([UINT32] * 2, UINT32, np.minimum),
    "umax": _function([UINT32] * 2, UINT32, np.maximum),
    "ullmin": _function([UINT64] * 2, UINT64, np.minimum),
    "ullmax": _function([UINT64] * 2, UINT64, np.maximum),
    "mulhi": _function(
        [INT32] * 2, INT32, lambda x, y: (x.astype(np.int64) * y.astype(np.int64)) >> np.int64(32)
    ),
    "umulhi": _function(
        [UINT32] * 2,
        UINT32,
        lambda x, y: (x.astype(np.uint64) * y.astype(np.uint64)) >> np.uint64(32),
    ),
    "popc": _function([INT32], INT32, lambda x: bits.count_ones(x)[()]),
    "popcll": _function([INT64], INT32, lambda x: bits.count_ones(x)[()]),
}
CONVERTED: dict[str, Function] = {
    name: _function(*conversion) for name, conversion in CONVERSIONS.items()
}

FUNCTIONS: dict[str, Function] = {
    f"cuda.libdevice.{name}": function for name, function in (FLOATS | WHOLE | CONVERTED).items()
}

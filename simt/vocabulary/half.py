"""`cuda.fp16`: arithmetic on float16 by name, each operation rounded once.

Arguments of any real type are converted to float16 first, as Numba does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simt.kernel.ir import Call
from simt.kernel.types import BOOL, FLOAT16, NoSuchType, Type, conversion
from simt.machine.machine import Machine
from simt.machine.values import Value
from simt.vocabulary.bits import rounded_to_odd
from simt.vocabulary.functions import Function, cast, numbers


def _half(count: int, result: np.dtype[Any], function: Callable[..., Value]) -> Function:
    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        for given in numbers(arguments, count, count):
            if conversion(given, FLOAT16) is None:
                raise NoSuchType(f"takes numbers that become float16, not {given}")
        return result

    def run(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
        return cast(function(*(cast(a, FLOAT16) for a in arguments)), result)

    return Function(type_, run)


def _wide(function: Callable[[Value], Value]) -> Callable[[Value], Value]:
    """A function worked out in float64 and rounded to float16 at its end."""
    return lambda a: function(a.astype(np.float64))


def _fma(a: Value, b: Value, c: Value) -> Value:
    # The product is exact in float64; a sum rounded to odd there is rounded once more without harm.
    wide = (v.astype(np.float64) for v in (a, b, c))
    x, y, z = wide
    return rounded_to_odd(x * y, z).astype(np.float16)[()]


_ONE: dict[str, Callable[[Value], Value]] = {
    "hneg": np.negative, "habs": np.abs, "hsin": _wide(np.sin), "hcos": _wide(np.cos),
    "hlog": _wide(np.log), "hlog10": _wide(np.log10), "hlog2": _wide(np.log2),
    "hexp": _wide(np.exp), "hexp10": _wide(lambda a: np.power(10.0, a)),
    "hexp2": _wide(np.exp2), "hfloor": np.floor, "hceil": np.ceil, "hsqrt": _wide(np.sqrt),
    "hrsqrt": _wide(lambda a: 1 / np.sqrt(a)), "hrcp": _wide(lambda a: 1 / a), "hrint": np.rint,
    "htrunc": np.trunc,
}  # fmt: skip
_TWO: dict[str, Callable[[Value, Value], Value]] = {
    # The greater and the smaller of two numbers is the other one where one is NaN.
    "hadd": np.add, "hsub": np.subtract, "hmul": np.multiply, "hdiv": np.divide, "hmax": np.fmax,
    "hmin": np.fmin,
}  # fmt: skip
_COMPARE: dict[str, Callable[[Value, Value], Value]] = {
    "heq": np.equal, "hne": np.not_equal, "hge": np.greater_equal, "hgt": np.greater,
    "hle": np.less_equal, "hlt": np.less,
}  # fmt: skip

FUNCTIONS: dict[str, Function] = {
    **{f"cuda.fp16.{name}": _half(1, FLOAT16, function) for name, function in _ONE.items()},
    **{f"cuda.fp16.{name}": _half(2, FLOAT16, function) for name, function in _TWO.items()},
    **{f"cuda.fp16.{name}": _half(2, BOOL, function) for name, function in _COMPARE.items()},
    "cuda.fp16.hfma": _half(3, FLOAT16, _fma),
}

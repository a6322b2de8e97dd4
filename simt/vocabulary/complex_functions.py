"""`cmath`: functions of complex numbers; a real number given to one becomes complex.

Source: numba-cuda 0.30, "numba/cuda/cpython/cmathimpl.py", for which functions there are.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

import numpy as np

from simt.kernel.ir import Call
from simt.kernel.types import BOOL, NoSuchType, TupleType, Type
from simt.machine.machine import Machine
from simt.machine.values import Value
from simt.vocabulary.functions import Function, cast, numbers

COMPLEX64 = np.dtype(np.complex64)


def _exp(z: Value) -> Value:
    # NumPy's zeros have the angle's sign where there is no angle; Numba's have none.
    nowhere = np.isneginf(z.real) & ~np.isfinite(z.imag)
    return np.where(nowhere, 0, np.exp(z))[()]


_ALIKE: dict[str, Callable[[Value], Value]] = {
    "exp": _exp, "log10": np.log10, "sqrt": np.sqrt,
    "acos": np.arccos, "asin": np.arcsin, "atan": np.arctan,
    "acosh": np.arccosh, "asinh": np.arcsinh, "atanh": np.arctanh,
    "cos": np.cos, "sin": np.sin, "tan": np.tan, "cosh": np.cosh, "sinh": np.sinh, "tanh": np.tanh,
}  # fmt: skip
_ASKED: dict[str, Callable[[Value], Value]] = {
    "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite,
}  # fmt: skip


def _wide(arguments: Sequence[Type], least: int, most: int) -> np.dtype[np.generic]:
    """The complex type that holds all arguments."""
    given = numbers(arguments, least, most)
    if any(a == np.float16 for a in given):
        raise NoSuchType("takes no float16")
    found = COMPLEX64
    for each in given:
        found = np.promote_types(found, each)
    return found


def _real(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    return np.dtype(f"float{4 * dtype.itemsize}")


def _unary(
    function: Callable[[Value], Value], result: Callable[[np.dtype[np.generic]], Type]
) -> Function:
    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        return result(_wide(arguments, 1, 1))

    def run(machine: Machine, call: Call, arguments: Sequence[Value], wanted: Type) -> Value:
        (given,) = arguments
        found = function(cast(given, _wide([given.dtype], 1, 1)))
        return found if isinstance(found, tuple) else cast(found, wanted)

    return Function(type_, run)


def _phase(z: Value) -> Value:
    return np.arctan2(z.imag, z.real)


def _polar(z: Value) -> Value:
    return np.abs(z), _phase(z)


def _log_type(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    return _wide(arguments, 1, 2)


def _log(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    first, *base = (np.log(cast(a, result)) for a in arguments)
    return cast(first / base[0], result) if base else first


def _rect_type(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    given = numbers(arguments, 2, 2)
    if any(a.kind == "c" for a in given):
        raise NoSuchType("takes a length and an angle, both real")
    return _wide(given, 2, 2)


def _rect(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    assert isinstance(result, np.dtype)
    length, angle = (cast(a, _real(result)) for a in arguments)
    endless = np.isinf(length)
    # Part by part: 1j * x would lose the sign of a zero. Times inf, a zero keeps only its sign.
    real, imag = (
        np.where(endless & (part == 0), part / length, part * length)
        for part in (np.cos(angle), np.sin(angle))
    )
    # Where there is no angle, a length of 0 or inf is kept.
    lost = ~np.isfinite(angle)
    none, endless = lost & (length == 0), lost & endless
    found = np.empty(np.shape(real), result)
    found.real = np.select([none, endless], [0, length], real)
    found.imag = np.select([none, endless], [0, angle], imag)
    return found[()]


FUNCTIONS: dict[str, Function] = {
    **{f"cmath.{name}": _unary(function, lambda wide: wide) for name, function in _ALIKE.items()},
    **{f"cmath.{name}": _unary(function, lambda wide: BOOL) for name, function in _ASKED.items()},
    "cmath.phase": _unary(_phase, _real),
    "cmath.polar": _unary(_polar, lambda wide: TupleType((_real(wide), _real(wide)))),
    "cmath.log": Function(_log_type, _log),
    "cmath.rect": Function(_rect_type, _rect),
}

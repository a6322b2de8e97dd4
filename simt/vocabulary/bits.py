"""Functions of a number's bits, and the few instructions of arithmetic that only a GPU names."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simt.kernel import types
from simt.kernel.ir import Call
from simt.kernel.types import BOOL, FLOAT32, FLOAT64, UINT32, UINT64, NoSuchType, NotSimulated, Type
from simt.machine.machine import Machine
from simt.machine.values import Value, rounded_once
from simt.vocabulary.functions import Function, cast, numbers, truth

_REVERSED = np.array([int(f"{n:08b}"[::-1], 2) for n in range(256)], np.uint8)


def _unsigned(value: Value) -> np.ndarray:
    width = value.dtype.itemsize
    return np.ascontiguousarray(value).view(f"uint{8 * width}")


def count_ones(value: Value) -> Any:
    """Returns how many of its bits are set, those of a negative number in two's complement."""
    return np.bitwise_count(_unsigned(value)).reshape(np.shape(value))


def _reverse(value: Value) -> Any:
    raw = np.atleast_1d(_unsigned(value))
    turned = _REVERSED[raw.view(np.uint8).reshape(-1, raw.dtype.itemsize)[:, ::-1]]
    return np.ascontiguousarray(turned).view(raw.dtype).reshape(np.shape(value))


def _leading_zeros(value: Value) -> Any:
    raw = _unsigned(value)
    count = np.full(raw.shape, 8 * raw.dtype.itemsize, np.int64)
    left = raw.copy()
    while left.any():
        count -= left != 0
        left >>= left.dtype.type(1)
    return count.reshape(np.shape(value))


def _first_set(value: Value) -> Any:
    """The place of the lowest one bit, counted from 1; 0 where there is none."""
    raw = _unsigned(value)
    lowest = raw & (~raw + raw.dtype.type(1))
    place = np.bitwise_count(lowest - raw.dtype.type(1)).astype(np.int64) + 1
    return np.where(raw == 0, 0, place).reshape(np.shape(value))


def _bits(
    function: Callable[[Value], Any],
    returns: np.dtype[Any] | None = None,
    returns_for_bool: np.dtype[Any] | None = None,
    *,
    unsigned: bool = False,
) -> Function:
    """A function of whole numbers.

    Args:
        function: what it does to the bits of numbers that have 32 or 64.
        returns: the type of its result; by default the argument's, made 32 bits wide.
        returns_for_bool: that of a bool, which is refused without one.
        unsigned: it is declared for uint32 and uint64 alone. All but a uint64 becomes a uint32, an
            int64 too: of several types that would lose something, Numba takes the first.
    """

    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        (a,) = numbers(arguments, 1, 1)
        if a == BOOL and returns_for_bool is not None:
            return returns_for_bool
        if a == BOOL:
            raise NotSimulated("the leading zeros of a bool", "count those of int32(x)")
        if a.kind not in "iu":
            raise NoSuchType(f"takes a whole number, not {a}")
        if unsigned:
            return a if a == UINT64 else UINT32
        return returns or _at_least_32(a)

    def run(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
        assert isinstance(result, np.dtype)
        wide = result if unsigned else _at_least_32(arguments[0].dtype)
        found = np.asarray(function(cast(arguments[0], wide)))
        found = found.astype(result)
        return found if found.ndim else found[()]

    return Function(type_, run)


def _at_least_32(a: np.dtype[Any]) -> np.dtype[Any]:
    return a if a.itemsize >= 4 else np.dtype(f"{'int' if a.kind == 'i' else 'uint'}32")


def _fma_type(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    found = numbers(arguments, 3, 3)
    return FLOAT32 if all(a == FLOAT32 for a in found) else FLOAT64


def _fma(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    count_fused(machine, call.line, result)
    return fused(*(cast(v, result) for v in arguments))


def count_fused(machine: Machine, line: int, dtype: Type) -> None:
    """Counts a product and a sum that are one operation."""
    lanes = machine.mask.count
    machine.audience.operations(line, "float32" if dtype == FLOAT32 else "float64", 2 * lanes)
    machine.audience.operations(line, "fma", lanes)


def fused(a: Value, b: Value, c: Value) -> Value:
    """Returns a * b + c of three float32 or three float64, rounded once."""
    if a.dtype == FLOAT32:
        # The product of two float32 is exact in float64. The sum is rounded to odd there, so that
        # rounding it once more to float32 gives what one rounding of the exact sum would.
        product = a.astype(np.float64) * b.astype(np.float64)
        return rounded_to_odd(product, c.astype(np.float64)).astype(np.float32)[()]
    return _exact_fma(a, b, c)


def rounded_to_odd(product: Value, c: Value) -> np.ndarray:
    """Returns product + c in float64, its last bit odd where the sum is not exact."""
    total = product + c
    rest = _two_sum_error(product, c, total)
    raw = np.asarray(total).view(np.int64)
    inexact = (rest != 0) & np.isfinite(total) & (raw & 1 == 0)
    towards = np.where((rest > 0) == (total > 0), 1, -1)
    odd = np.where(inexact, raw + np.where(towards > 0, 1, -1), raw)
    return np.asarray(odd).view(np.float64)


def _two_sum_error(a: Value, b: Value, total: Value) -> Value:
    shadow = total - a
    return (a - (total - shadow)) + (b - shadow)


def _exact_fma(a: Value, b: Value, c: Value) -> Value:
    """One rounding, by exact rational arithmetic: right, and slow.

    >>> most = np.finfo(np.float64).max
    >>> float(_exact_fma(most, -2.0, -most)), float(_exact_fma(most, 2.0, -most)) == float(most)
    (-inf, True)
    """
    from fractions import Fraction

    def one(x: float, y: float, z: float) -> float:
        if not (np.isfinite(x) and np.isfinite(y) and np.isfinite(z)):
            return x * y + z
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        try:
            return float(exact) if exact else x * y + z
        except OverflowError:
            return math.inf if exact > 0 else -math.inf

    return np.vectorize(one, otypes=[np.float64])(a, b, c)[()]


def _select_type(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    _, a, b = numbers(arguments, 3, 3)
    if a != b:
        raise NoSuchType(f"chooses between two of one type, not {a} and {b}", "convert one of them")
    if a.kind not in "iuf" or a.itemsize < 2 or a == types.FLOAT16:
        raise NoSuchType(
            f"chooses between numbers of 2, 4 or 8 bytes, not {a}", "write a if test else b"
        )
    return a


def _select(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    condition, a, b = arguments
    return np.asarray(np.where(truth(condition), cast(a, result), cast(b, result)))[()]


def _cube_root_type(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    return types.real(numbers(arguments, 1, 1)[0])


def _cube_root(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    return cast(rounded_once(np.cbrt)(cast(arguments[0], result)), result)


FUNCTIONS: dict[str, Function] = {
    "cuda.popc": _bits(count_ones, returns_for_bool=np.dtype(np.int8)),
    "cuda.brev": _bits(_reverse, returns_for_bool=UINT32, unsigned=True),
    "cuda.clz": _bits(_leading_zeros),
    "cuda.ffs": _bits(_first_set, UINT32, UINT32),
    "cuda.fma": Function(_fma_type, _fma),
    "cuda.selp": Function(_select_type, _select),
    "cuda.cbrt": Function(_cube_root_type, _cube_root),
}

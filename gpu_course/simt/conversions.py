"""Which conversion takes one type to another, as Numba rates them when it picks a signature.

A number may be promoted (int8 to int32), converted safely (uint8 to int16) or unsafely (float64 to
float32, int64 to int8). Of several signatures Numba takes the one with the fewest unsafe
conversions, then the fewest safe ones, then the fewest promotions, then the first.

Source: Numba, "numba/core/typeconv/rules.py"; compared with it over all pairs in the tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from gpu_course.simt.types import ArrayType, TupleType, Type

EXACT, PROMOTE, SAFE, UNSAFE = range(4)

_PROMOTED = (
    "int8 int16", "int16 int32", "int32 int64", "uint8 uint16", "uint16 uint32", "uint32 uint64",
    "float16 float32", "float32 float64", "complex64 complex128",
)  # fmt: skip
_SAFE = (
    "bool int8", "bool uint8", "uint8 int16", "uint16 int32", "uint32 int64", "int8 float16",
    "int16 float32", "int32 float64", "int64 float64", "uint64 float64",
)  # fmt: skip
_UNSAFE = ("int16 float16", "int32 float32")
_ONE_WAY = ("float32 complex64", "float64 complex128")


@cache
def _numbers() -> dict[tuple[np.dtype[Any], np.dtype[Any]], int]:
    """The gentlest conversion between any two kinds of numbers, over steps in between."""
    found: dict[tuple[np.dtype[Any], np.dtype[Any]], int] = {}

    def step(pair: str, there: int, back: int | None) -> None:
        a, b = map(np.dtype, pair.split())
        found[a, b] = there
        if back is not None:
            found[b, a] = back

    for rank, pairs in ((PROMOTE, _PROMOTED), (SAFE, _SAFE), (UNSAFE, _UNSAFE)):
        for pair in pairs:
            step(pair, rank, UNSAFE)
    for pair in _ONE_WAY:
        step(pair, SAFE, None)
    dtypes = {a for pair in found for a in pair}
    for middle in dtypes:
        for a in dtypes:
            for b in dtypes:
                if (a, middle) in found and (middle, b) in found:
                    way = max(found[a, middle], found[middle, b])
                    found[a, b] = min(found.get((a, b), UNSAFE), way)
    return found | {(a, a): EXACT for a in dtypes}


def conversion(given: Type, wanted: Type) -> int | None:
    """Returns the rank of the conversion from one type to another, or None where there is none.

    >>> f32, f64 = np.dtype("float32"), np.dtype("float64")
    >>> conversion(f32, f64) == PROMOTE, conversion(f64, f32) == UNSAFE
    (True, True)
    >>> conversion(np.dtype("complex64"), f32) is None
    True
    """
    if isinstance(given, np.dtype) and isinstance(wanted, np.dtype):
        return EXACT if given == wanted else _numbers().get((given, wanted))
    if isinstance(given, ArrayType) and isinstance(wanted, ArrayType):
        alike = (given.dtype, given.ndim) == (wanted.dtype, wanted.ndim)
        return EXACT if alike else None
    if isinstance(given, TupleType) and isinstance(wanted, TupleType):
        if len(given.elements) != len(wanted.elements):
            return None
        ranks = [conversion(g, w) for g, w in zip(given.elements, wanted.elements, strict=True)]
        return None if None in ranks else max([EXACT, *(r for r in ranks if r is not None)])
    return EXACT if given is None and wanted is None else None


def rating(given: Sequence[Type], wanted: Sequence[Type]) -> tuple[int, int, int] | None:
    """Returns how well arguments fit a signature, less is better; None where they do not."""
    if len(given) != len(wanted):
        return None
    ranks = [conversion(g, w) for g, w in zip(given, wanted, strict=True)]
    if None in ranks:
        return None
    return ranks.count(UNSAFE), ranks.count(SAFE), ranks.count(PROMOTE)

"""Digits of float64: what another order of additions may change, and what float32 leaves of them.

A result is right whoever adds first, so a tolerance is as wide as orders differ: it follows from
the dtype, from how many numbers are added, and from how large they are. What has been float32 on
its way is off by 2 ** 29 times as much.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

EPSILON = 2.0**-52
"""The distance from 1 to the next float64."""


def rounding(terms: int, largest: float) -> tuple[float, float]:
    """Returns the (rtol, atol) within which sums agree that were formed in different orders.

    A sum of n numbers x is off by (n - 1) u times the sum of |x| at most, u being half of EPSILON,
    whatever the order; so two of them differ by no more than n (n - 1) EPSILON times the largest.
    It is no part of the result, which may be near 0 where large numbers cancel: hence no rtol.

    Args:
        terms: how many numbers are added, at most.
        largest: what none of them exceeds.

    Source: Higham 2002, Accuracy and Stability of Numerical Algorithms, section 4.2.

    >>> rounding(4, 64.0)[1] < 64 * 2**-24 / 1000
    True
    """
    return 0.0, terms * terms * EPSILON * largest


def long_numbers(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Returns numbers too long for float32, whose sums float64 holds exactly in any order.

    They have 40 bits, up to 64 in size; none is zero. Sums of up to 8,192 of them fit into 53 bits.
    """
    return rng.integers(1, 1 << 40, shape) * rng.choice([-1.0, 1.0], shape) / (1 << 34)


def with_specials(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """Returns the numbers with an infinity, its negative and a NaN, each at a place drawn."""
    found = x.copy()
    places = rng.permutation(x.size)[:3]
    found[places] = np.array([np.inf, -np.inf, np.nan])[: len(places)]
    return found


def to_seven_digits(expected: Mapping[str, Any], got: Mapping[str, Any]) -> bool:
    """Whether all outputs are right as far as float32 holds numbers, and no further.

    Args:
        expected, got: arrays by their names, alone or in tuples and lists.
    """
    pairs = [pair for name in expected for pair in _pairs(got.get(name), expected[name])]
    if not pairs or any(np.shape(g) != np.shape(e) for g, e in pairs):
        return False
    off = [_off(np.asarray(g), np.asarray(e)) for g, e in pairs if np.size(e)]
    # Less is rounding of float64, which no puzzle minds.
    return bool(off) and 1e-11 < max(off) < 4e-6


def _pairs(got: Any, expected: Any) -> list[tuple[Any, Any]]:
    if isinstance(expected, tuple | list):
        if not isinstance(got, tuple | list) or len(got) != len(expected):
            return [(None, np.zeros(1))]
        return [pair for g, e in zip(got, expected, strict=True) for pair in _pairs(g, e)]
    return [(got, expected)]


def _off(got: np.ndarray, expected: np.ndarray) -> float:
    """Returns by how much of its largest number an array is off."""
    if expected.dtype != np.float64:
        return 0.0 if np.array_equal(got, expected) else np.inf
    finite = np.isfinite(expected)
    if not np.array_equal(got[~finite], expected[~finite], equal_nan=True):
        return np.inf
    if not finite.any():
        return 0.0
    off = np.abs(got[finite] - expected[finite]).max()
    return float(off / max(np.abs(expected[finite]).max(), np.finfo(float).tiny))

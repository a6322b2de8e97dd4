"""Three times of one operation on this computer's CPU, to tell what it waits for."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

REPEATS = 7
LEAST_S = 2e-4
"""A time shorter than this is taken over many calls."""
MAX_S = 0.2
"""When the repeats have taken as long, no further one is begun."""

Times = tuple[float, float, float]


def three_times(numbers: int, degree: int) -> Times:
    """Returns seconds of an operation: as it is, with twice the FLOP, and with twice the data.

    The operation puts each number into a polynomial: a product and an addition for each degree.
    Twice the FLOP is twice the degree on the same numbers. Twice the data is twice as many numbers,
    each with the same work.

    Args:
        numbers: how many float32 it reads, and as many it writes.
        degree: of the polynomial.
    """
    once, twice = polynomial(degree), polynomial(2 * degree)
    return (
        seconds_of(once, *_arrays(numbers)),
        seconds_of(twice, *_arrays(numbers)),
        seconds_of(once, *_arrays(2 * numbers)),
    )


@lru_cache(maxsize=32)
def polynomial(degree: int) -> Callable[[np.ndarray, np.ndarray], None]:
    """Returns a compiled function of (out, a) that puts each number into a polynomial.

    The degree is a constant of the compiled code, so that a compiler can unroll the loop over it
    and compute several numbers at a time.
    """
    from numba import njit

    def put_in(out: np.ndarray, a: np.ndarray) -> None:
        for i in range(a.size):
            x = a[i]
            y = x
            for _ in range(degree):
                y = y * x + x
            out[i] = y

    compiled: Callable[[np.ndarray, np.ndarray], None] = njit(put_in)
    return compiled


def seconds_of(function: Callable[..., Any], *arguments: Any) -> float:
    """Returns how long a call takes: the least of several times, after one that is not counted."""
    function(*arguments)
    calls, best, spent = 1, np.inf, 0.0
    for _ in range(REPEATS):
        start = time.perf_counter()
        for _ in range(calls):
            function(*arguments)
        took = time.perf_counter() - start
        best, spent = min(best, took / calls), spent + took
        if spent > MAX_S:
            break
        if took < LEAST_S:
            calls *= 8
    return float(best)


def _arrays(numbers: int) -> tuple[np.ndarray, np.ndarray]:
    # Below 1 no power of a number overflows, and none becomes too small to be normal.
    a = np.linspace(0.5, 0.9, numbers, dtype=np.float32)
    return np.zeros_like(a), a

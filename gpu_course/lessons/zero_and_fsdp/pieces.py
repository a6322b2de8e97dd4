"""What the puzzles of lesson 23 share: slices of equal length, Adam, and bytes that are booked."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from gpu_course.puzzle.specification import Judgement
from gpu_course.ranks.calls import Call
from gpu_course.ranks.traffic import booked_bytes

# Adam, as the stubs have it. So large an epsilon makes a sum of gradients and their mean differ,
# and keeps noise from being blown up where a gradient is zero but for rounding.
RATE, BETA_1, BETA_2, EPSILON = 0.01, 0.9, 0.99, 0.01


def share(length: int, ranks: int) -> int:
    """Returns how many numbers each rank's slice has: all slices are of equal length.

    >>> share(10, 4), share(8, 4), share(2, 4)
    (3, 2, 1)
    """
    return -(-length // ranks)


def padded(x: np.ndarray, ranks: int) -> np.ndarray:
    """Returns (ranks, share): an array with zeros at its end, cut into slices.

    >>> padded(np.arange(1.0, 6.0), 2).tolist()
    [[1.0, 2.0, 3.0], [4.0, 5.0, 0.0]]
    """
    size = share(x.size, ranks)
    return np.pad(x, (0, ranks * size - x.size)).reshape(ranks, size)


Moments = tuple[np.ndarray, np.ndarray, np.ndarray]


def adam(
    weights: np.ndarray, gradient: np.ndarray, m: np.ndarray, v: np.ndarray, step: int
) -> Moments:
    """Returns weights, m and v after a step of Adam.

    Args:
        weights, gradient, m, v: of one shape.
        step: from 1.

    Source: Kingma and Ba 2014, "Adam: A Method for Stochastic Optimization", algorithm 1.
    """
    m = BETA_1 * m + (1 - BETA_1) * gradient
    v = BETA_2 * v + (1 - BETA_2) * gradient**2
    m_hat, v_hat = m / (1 - BETA_1**step), v / (1 - BETA_2**step)
    return weights - RATE * m_hat / (np.sqrt(v_hat) + EPSILON), m, v


def booked(wire: Sequence[Call], rank: int) -> Fraction:
    """Returns the bytes that a rank's calls are booked at, its own messages and collectives."""
    return booked_bytes(call for call in wire if call.rank == rank)


def within_booked(wire: Sequence[Call], allowed: Sequence[int], key: str) -> Judgement | None:
    """Returns what is wrong where a rank's calls carry more than they need to.

    Args:
        wire: the calls of all ranks.
        allowed: bytes, for each rank.
        key: of the finding.
    """
    for rank, most in enumerate(allowed):
        sent = booked(wire, rank)
        if sent > most:
            own = [call for call in wire if call.rank == rank]
            largest = max(own, key=lambda call: call.booked_bytes)
            fact = f"the calls of rank {rank} carry {int(sent):,} bytes; {most:,} will do"
            return Judgement(key, fact, "over-budget", largest.line)
    return None

"""What the puzzles of lesson 24 share: parts of matrices, passes told apart, bytes of each."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.puzzle.digits import rounding
from gpu_course.puzzle.on_ranks import FLOAT64_BYTES, passes
from gpu_course.puzzle.specification import Case, Judgement, Values
from gpu_course.ranks.traffic import booked_bytes


def eighths(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Returns numbers whose products and sums are exact in any order, none of them zero."""
    return rng.integers(1, 40, shape) * rng.choice([-1.0, 1.0], shape) / 8.0


def drawn_array(rng: np.random.Generator, case: Case, *shape: int) -> np.ndarray:
    """Returns numbers as `eighths` are, and in all cases but the example too long for float32.

    They have 28 bits and are below 8: what is narrower than float64 on its way arrives changed.
    """
    if case.visible:
        return eighths(rng, *shape)
    return rng.integers(1, 1 << 28, shape) * rng.choice([-1.0, 1.0], shape) / (1 << 25)


SUMS = rounding(121, 64.0)
"""The tolerance of sums of products of such numbers: 120 and a bias at most."""


def small(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Returns numbers around 0 whose products with a few of their kind stay near 1."""
    return np.round(rng.normal(0, 1 / np.sqrt(shape[-1]), shape), 6)


def cut(whole: np.ndarray, ranks: int, axis: int = 0) -> tuple[np.ndarray, ...]:
    """Returns a part for each rank, as `Tensor.tensor_split` cuts it.

    >>> [part.tolist() for part in cut(np.arange(5), 3)]
    [[0, 1], [2, 3], [4]]
    """
    return tuple(np.ascontiguousarray(part) for part in np.array_split(whole, ranks, axis))


def all_reduce_bytes(numbers: int, ranks: int) -> int:
    """Returns what a rank sends in a ring's all-reduce, pieces rounded up to whole numbers."""
    return 2 * (ranks - 1) * -(-numbers // ranks) * FLOAT64_BYTES


def within_passes(
    got: Values, ranks: int, forward: int, backward: int, more: str = ""
) -> Judgement | None:
    """Returns what is wrong where a rank sends more in a pass than it needs to.

    Args:
        got: what came back.
        ranks: how many.
        forward, backward: bytes that each rank may send.
        more: is added to the fact.
    """
    for rank in range(ranks):
        own = passes(got["wire"], rank)
        for words, calls, most in (("forward", own[0], forward), ("backward", own[1], backward)):
            sent = booked_bytes(calls)
            if sent > most:
                largest = max(calls, key=lambda call: call.booked_bytes)
                will = f"{most:,} will do" if most else "none are needed"
                fact = f"rank {rank} sends {float(sent):,.0f} bytes {words}; {will}{more}"
                return Judgement(f"{words}-bytes", fact, "over-budget", largest.line)
    return None


def alike(got: Any, expected: Any) -> bool:
    """Whether every rank's array is the one at its place, but for the last digits."""
    return all(
        np.shape(g) == np.shape(e) and np.allclose(g, e, rtol=1e-7, atol=1e-9)
        for g, e in zip(got, expected, strict=True)
    )

"""What the puzzles share that turn many numbers into one: sizes, and their budgets."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import drawn_case, sized
from gpu_course.puzzle.specification import Budget
from gpu_course.puzzle.warp_budgets import FIVE_STEPS

TPB = 128
WARP = 32
WARPS = TPB // WARP

VECTORS = (
    sized("visible example", visible=True, size=200),
    sized("one cell", size=1),
    sized("a lane without a cell", size=31),
    sized("one cell more than a warp", size=33),
    sized("one cell more than two blocks", size=257),
    sized("517 large numbers", size=517, doublings=90),
)
"""Sizes of a vector at which warps and blocks of TPB threads go wrong."""
random_vector = drawn_case(size=(130, 520))

AS_FEW_BARRIERS = Budget(
    "barriers",
    lambda case, counters: counters.barriers,
    "At a barrier all warps of the block wait for the slowest. The lanes of one warp need none: "
    "they can exchange their numbers by shuffles. What is left for the tile is one number a warp.",
    "barriers, counted warp by warp",
)
"""For puzzles whose lanes are to exchange their numbers without the tile."""

AS_FEW_SHUFFLES = Budget(
    "shuffles",
    # Twice as many leave room for a warp that adds up what the others have found, and for a number
    # that is handed on in two parts.
    lambda case, counters: 2 * counters.shuffles,
    FIVE_STEPS,
    "shuffles, counted warp by warp",
)
NO_FLOAT64 = Budget(
    "float64_operations",
    0,
    "With a number that is not said to be float32, be it 0.0 or 0, Numba computes in float64, and "
    "goes on so. Most GPUs have far fewer units for float64 than for float32.",
    "float64 operations",
)


def pieces(a: np.ndarray, span: int) -> list[np.ndarray]:
    """Returns the pieces of a vector that blocks with `span` cells each have.

    >>> [len(piece) for piece in pieces(np.arange(300), 128)]
    [128, 128, 44]
    """
    return [a[start : start + span] for start in range(0, len(a), span)]


def summed(parts: list[np.ndarray]) -> np.ndarray:
    """Returns the sum of each of several vectors, which has to be exact in float32."""
    return np.array([part.sum(dtype=np.float64) for part in parts], np.float32)

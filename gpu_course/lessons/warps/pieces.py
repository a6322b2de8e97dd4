"""What the kernel puzzles of lesson 02 have in common: warps of numbers, sizes, sentences."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import blocks_to_cover, drawn_case, sized
from gpu_course.puzzle.specification import Budget, Case
from gpu_course.puzzle.warp_budgets import STEPS

TPB = 64
WARP = 32

CASES = (
    sized("visible example", visible=True, size=40),
    sized("one cell", size=1),
    sized("three whole warps", size=96),
    sized("one cell more than three warps", size=97),
)
"""Sizes at which the last warp, or the last block, is not full; a puzzle adds its own."""

random_case = drawn_case(size=(33, 400))


def by_warp(a: np.ndarray, fill: float = np.nan) -> np.ndarray:
    """Returns float32 (warps, 32): an array cut into warps, `fill` where the last has no cell.

    >>> by_warp(np.ones(40)).shape, int(np.isnan(by_warp(np.ones(40))).sum())
    ((2, 32), 24)
    """
    warps = blocks_to_cover(len(a), WARP)
    rows = np.full(warps * WARP, fill, np.float32)
    rows[: len(a)] = a
    return rows.reshape(warps, WARP)


def cells(rows: np.ndarray, size: int) -> np.ndarray:
    """Returns what the lanes with a cell hold, in order."""
    return np.array(rows.reshape(-1)[:size], np.float32)


def launched_warps(case: Case) -> int:
    """Returns the warps of a launch that covers the cells with blocks of TPB threads."""
    return blocks_to_cover(case.sizes["size"], TPB) * (TPB // WARP)


def shuffles(words: str) -> Budget:
    """Returns the limit of five shuffles for each warp."""
    return Budget(
        "shuffles",
        lambda case, counters: STEPS * launched_warps(case),
        words,
        "shuffles",
    )


NO_TILE = Budget(
    "shared_store.requests",
    0,
    "Shared memory is a detour. Lanes of one warp can read each other's variables directly.",
    "writes to shared memory",
)
READ_ONCE = Budget(
    "global_load.requests",
    # A load that is clamped to the array goes out from a warp without a cell, too.
    lambda case, counters: launched_warps(case),
    "One load brings each lane its own number. What other lanes have brought need not be loaded "
    "again.",
    "loads by warps",
)

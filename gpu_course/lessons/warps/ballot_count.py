"""Puzzle `ballot_count`: 32 lanes vote, and the votes are counted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpu_course.lessons.warps import pieces
from gpu_course.lessons.warps.pieces import CASES, TPB, by_warp
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    eighths,
    enough_blocks,
    gives,
    sized,
    special,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, Case, KernelPuzzle, Values
from gpu_course.puzzle.warp_budgets import NO_ATOMICS


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    size = case.sizes["size"]
    a = eighths(rng, size, case)
    # A limit that is one of the numbers: being equal to it is not being above it. It lies below 0
    # where there are such numbers.
    below = np.sort(a[a < 0]) if (a < 0).any() else np.sort(a)
    limit = below[len(below) // 2] if size > 1 else a[0] - np.float32(1)
    return {"a": a, "limit": np.float32(limit), "size": size}


def _votes(a: np.ndarray, limit: np.float32) -> np.ndarray:
    return np.asarray(by_warp(a) > limit)


def _count(votes: np.ndarray) -> np.ndarray:
    return votes.sum(axis=1).astype(np.float32)


def _idea(
    votes: Callable[[np.ndarray], np.ndarray],
) -> Callable[[np.ndarray, np.float32], np.ndarray]:
    return lambda a, limit: votes(_votes(a, limit)).astype(np.float32)


BALLOT_COUNT = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        *CASES,
        sized("1,000 large numbers", size=1000, doublings=100),
        special("NaN and infinities", size=101),
    ),
    random_case=pieces.random_case,
    inputs=_inputs,
    launches=enough_blocks("ballot_count", "out", "a", "limit", "size", block=TPB),
    reference=gives(_idea(_count)),
    budgets=(
        pieces.NO_TILE,
        *NO_ATOMICS,
        pieces.READ_ONCE,
        Budget(
            "shuffles",
            0,
            "A yes or a no is one bit, and a vote brings the bits of all lanes together at once. "
            "Adding them up lane by lane takes five steps.",
            "shuffles",
        ),
    ),
    share=ONE_CELL_EACH,
)

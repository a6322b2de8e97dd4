"""Puzzle `warp_sum`: 32 lanes come to one sum."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.warps import pieces
from gpu_course.lessons.warps.pieces import CASES, TPB, WARP, by_warp
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    enough_blocks,
    gives,
    sized,
    special,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Bonus, KernelPuzzle
from gpu_course.puzzle.warp_budgets import NO_ATOMICS, STEPS


def _sums(rows: np.ndarray) -> np.ndarray:
    return np.asarray(np.sum(rows, axis=1, dtype=np.float32))


def _right(a: np.ndarray) -> np.ndarray:
    return _sums(by_warp(a, fill=0))


WARP_SUM = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        *CASES,
        sized("1,000 large numbers", size=1000, doublings=100),
        special("NaN and infinities", size=101),
    ),
    random_case=pieces.random_case,
    inputs=arrays("size", a="size"),
    launches=enough_blocks("warp_sum", "out", "a", "size", block=TPB),
    reference=gives(_right),
    budgets=(
        pieces.NO_TILE,
        *NO_ATOMICS,
        pieces.READ_ONCE,
        pieces.shuffles(
            "Lane 0 does not need a shuffle for each number: a shuffle moves 32 values at once. "
            "If all lanes add what they get, each step doubles what a lane has summed."
        ),
    ),
    share=ONE_CELL_EACH,
    bonus=Bonus(
        "shuffles",
        lambda case: STEPS * -(-case.sizes["size"] // WARP),
    ),
)

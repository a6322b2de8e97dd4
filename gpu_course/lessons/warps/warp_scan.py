"""Puzzle `warp_scan`: running sums within each warp."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.warps import pieces
from gpu_course.lessons.warps.pieces import CASES, TPB, WARP, by_warp, cells
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


def _right(a: np.ndarray) -> np.ndarray:
    return cells(by_warp(a, fill=0).cumsum(axis=1, dtype=np.float32), len(a))


WARP_SCAN = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        *CASES,
        sized("200 large numbers", size=200, doublings=100),
        special("NaN and infinities", size=101),
    ),
    random_case=pieces.random_case,
    inputs=arrays("size", a="size"),
    launches=enough_blocks("warp_scan", "out", "a", "size", block=TPB),
    reference=gives(_right),
    budgets=(
        pieces.NO_TILE,
        *NO_ATOMICS,
        pieces.READ_ONCE,
        pieces.shuffles(
            "A lane need not fetch its predecessors one by one. What a neighbour has summed "
            "already can be fetched as one number, so the distance may double in each step."
        ),
    ),
    share=ONE_CELL_EACH,
    bonus=Bonus(
        "shuffles",
        lambda case: STEPS * -(-case.sizes["size"] // WARP),
    ),
)

"""Puzzle `sum_rows`: a sum for each row, by a warp."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.coalescing.pieces import WARP, loads_in_order
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    blocks_to_cover,
    drawn_case,
    gives,
    sized,
    special,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, Case, KernelPuzzle, Launch
from gpu_course.puzzle.warp_budgets import NO_ATOMICS, STEPS

TPB = 128


def _launched_warps(case: Case) -> int:
    warps = TPB // WARP
    return blocks_to_cover(case.sizes["rows"], warps) * warps


SUM_ROWS = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=6, cols=80),
        sized("one cell", rows=1, cols=1),
        sized("more rows than columns", rows=70, cols=13),
        sized("rows of exactly a warp", rows=8, cols=32),
        sized("ragged rows of large numbers", rows=5, cols=131, doublings=90),
        special("NaN and infinities", rows=7, cols=67),
    ),
    random_case=drawn_case(rows=(5, 40), cols=(33, 150)),
    inputs=arrays("rows", "cols", a="rows cols"),
    large=lambda least_bytes: sized(
        "past L2", rows=blocks_to_cover(least_bytes, 4 * 1024), cols=1024
    ),
    launches=lambda case: (
        Launch(
            "sum_rows",
            blocks_to_cover(case.sizes["rows"], TPB // WARP),
            TPB,
            ("out", "a", "rows", "cols"),
        ),
    ),
    reference=gives(lambda a: a.sum(axis=1, dtype=np.float32)),
    budgets=(
        loads_in_order(
            "Each lane goes along its own cells, and that is orderly for one lane. But 32 lanes "
            "load at the same moment: how far apart are the cells of lanes 0, 1 and 2?"
        ),
        Budget(
            "shuffles",
            lambda case, counters: STEPS * _launched_warps(case),
            "All lanes add what a shuffle brings, so each step doubles what lane 0 has: five steps "
            "gather 32 parts.",
            "shuffles",
        ),
        *NO_ATOMICS,
    ),
    share=ONE_CELL_EACH,
)

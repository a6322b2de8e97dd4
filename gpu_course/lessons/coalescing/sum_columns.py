"""Puzzle `sum_columns`: a sum for each column."""

from __future__ import annotations

import math

import numpy as np

from gpu_course.lessons.coalescing.pieces import TPB, loads_in_order
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
from gpu_course.puzzle.specification import KernelPuzzle, Launch

APART = (math.inf, -math.inf, 0.0, math.nan)
"""In this order the two infinities stand in two columns, and so their sums are infinite."""


SUM_COLUMNS = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=5, cols=72),
        sized("one cell", rows=1, cols=1),
        sized("more rows than columns", rows=100, cols=40),
        sized("exactly one block", rows=33, cols=64),
        sized("ragged rows of large numbers", rows=6, cols=150, doublings=90),
        special("NaN and infinities", APART, rows=7, cols=67),
    ),
    random_case=drawn_case(rows=(2, 40), cols=(65, 200)),
    inputs=arrays("rows", "cols", a="rows cols"),
    launches=lambda case: (
        Launch(
            "sum_columns",
            blocks_to_cover(case.sizes["cols"], TPB),
            TPB,
            ("out", "a", "rows", "cols"),
        ),
    ),
    reference=gives(lambda a: a.sum(axis=0, dtype=np.float32)),
    budgets=(
        loads_in_order(
            "In one load, the lanes of a warp should read neighbours of one row. Which rows and "
            "columns do lanes 0, 1 and 2 have at that moment?"
        ),
    ),
    share=ONE_CELL_EACH,
)

"""Puzzle `axis_sum`: the sum of every row, a warp for each."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.sums import NO_FLOAT64, WARP, summed
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    blocks_to_cover,
    drawn_case,
    gives,
    sized,
    with_special_numbers,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, KernelPuzzle, Launch, Values
from gpu_course.puzzle.warp_budgets import READ_IN_ORDER, an_atomic_a_warp, ten_shuffles_a_warp

ROWS = 4


def _put_special_numbers(values: Values) -> None:
    """An infinity at the end of some rows, the last among them; a NaN in another."""
    values["a"][::5, -1] = np.inf
    values["a"][2, 3] = np.nan


AXIS_SUM = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=6, cols=40),
        sized("one cell", rows=1, cols=1),
        sized("31 columns", rows=4, cols=31),
        sized("33 columns", rows=5, cols=33),
        sized("many short rows", rows=19, cols=3),
        sized("large numbers", rows=7, cols=75, doublings=90),
        sized("infinities and a NaN", rows=6, cols=35, infinite=1),
    ),
    random_case=drawn_case(rows=(2, 13), cols=(17, 100)),
    inputs=with_special_numbers(
        arrays("rows", "cols", a="rows cols"), infinite=_put_special_numbers
    ),
    launches=lambda case: (
        Launch(
            "axis_sum",
            blocks_to_cover(case.sizes["rows"], ROWS),
            (WARP, ROWS),
            ("out", "a", "rows", "cols"),
        ),
    ),
    reference=gives(lambda a: summed(list(a))),
    budgets=(
        READ_IN_ORDER,
        Budget(
            "barriers",
            0,
            "A row belongs to one warp, and its lanes can exchange their sums by shuffles. A "
            "barrier makes the rows of a block wait for each other.",
            "barriers, counted warp by warp",
        ),
        an_atomic_a_warp(lambda case: case.sizes["rows"]),
        ten_shuffles_a_warp(lambda case: ROWS * blocks_to_cover(case.sizes["rows"], ROWS)),
        NO_FLOAT64,
    ),
    share=ONE_CELL_EACH,
)

"""Puzzle `matvec`: a matrix times a vector, a warp for each row."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.matmul.pieces import ALL_IN_FLOAT32, product
from gpu_course.puzzle.builders import (
    arrays,
    blocks_to_cover,
    drawn_case,
    gives,
    sized,
    with_special_numbers,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Bonus,
    Budget,
    Case,
    KernelPuzzle,
    Launch,
    Share,
    Values,
)
from gpu_course.puzzle.warp_budgets import READ_IN_ORDER, an_atomic_a_warp, ten_shuffles_a_warp

WARPS = 4
LANES = 32


def _put_special_numbers(values: Values) -> None:
    """An infinity that x multiplies by 0, one at the end of a row, and a NaN."""
    a, values["x"][3] = values["a"], 0
    a[0, 3], a[1, -1], a[2, 4] = np.inf, np.inf, np.nan


def _zero_by_infinity(values: Values) -> None:
    values["a"][0, 3], values["x"][3] = 0, np.inf


def _grid(case: Case) -> int:
    return blocks_to_cover(case.sizes["rows"], WARPS)


MATVEC = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=6, cols=80),
        sized("one cell", rows=1, cols=1),
        sized("rows shorter than a warp", rows=9, cols=21),
        sized("whole warps, large numbers", rows=8, cols=64, doublings=40),
        sized("long rows", rows=4, cols=300),
        sized("infinities, a NaN and a zero in x", rows=5, cols=40, infinite=1),
        sized("a zero that meets an infinity of x", rows=5, cols=40, zero=1),
    ),
    random_case=drawn_case(rows=(3, 30), cols=(33, 150)),
    inputs=with_special_numbers(
        arrays("rows", "cols", a="rows cols", x="cols"),
        infinite=_put_special_numbers,
        zero=_zero_by_infinity,
    ),
    large=lambda least_bytes: sized(
        "past L2", rows=blocks_to_cover(least_bytes, 4 * 4096), cols=4096
    ),
    launches=lambda case: (
        Launch("matvec", _grid(case), (LANES, WARPS), ("out", "a", "x", "rows", "cols")),
    ),
    reference=gives(lambda a, x: product(a, x)),
    budgets=(
        Budget(
            "global_load.excess_sectors",
            READ_IN_ORDER.limit,
            "In each step the lanes of the warp should read 32 numbers that lie side by side. "
            "Which columns do lanes 0, 1 and 2 read in the first step of your loop?",
            "excess sectors in loads",
        ),
        an_atomic_a_warp(lambda case: case.sizes["rows"]),
        ten_shuffles_a_warp(lambda case: WARPS * blocks_to_cover(case.sizes["rows"], WARPS)),
        ALL_IN_FLOAT32,
    ),
    share=Share("Each thread writes at most one cell."),
    bonus=Bonus(
        "global_load.bytes",
        lambda case: 4 * case.sizes["cols"] * (case.sizes["rows"] + _grid(case)),
    ),
)

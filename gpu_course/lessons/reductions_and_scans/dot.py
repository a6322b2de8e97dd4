"""Puzzle `dot`: the sum of all products, with one barrier."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.sums import (
    AS_FEW_BARRIERS,
    AS_FEW_SHUFFLES,
    NO_FLOAT64,
    TPB,
    WARPS,
    summed,
)
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    drawn_case,
    gives,
    sized,
    with_special_numbers,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import KernelPuzzle, Launch, Values
from gpu_course.puzzle.warp_budgets import READ_IN_ORDER, an_atomic_a_warp


def _infinite_at_the_end(values: Values) -> None:
    values["a"][-1] = np.inf


def _zero_by_infinity(values: Values) -> None:
    values["a"][3], values["b"][3] = 0, np.inf


def _infinity_by_zero(values: Values) -> None:
    values["a"][3], values["b"][3] = np.inf, 0


def _sum_of(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return summed([a.astype(np.float64) * b])


DOT = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=200),
        sized("one cell", size=1),
        sized("a lane without a cell", size=31),
        sized("one cell more than a warp", size=33),
        sized("exactly one each", size=128),
        sized("four cells each, and one more", size=513),
        sized("300 large numbers", size=300, doublings=40),
        sized("an infinite number at the end", size=131, infinite=1),
        sized("zero times infinity", size=40, zero=1),
        sized("infinity times zero", size=40, nan=1),
    ),
    random_case=drawn_case(size=(130, 500)),
    inputs=with_special_numbers(
        arrays("size", a="size", b="size"),
        infinite=_infinite_at_the_end,
        zero=_zero_by_infinity,
        nan=_infinity_by_zero,
    ),
    launches=lambda case: (Launch("dot", 1, TPB, ("out", "a", "b", "size")),),
    reference=gives(_sum_of),
    budgets=(
        AS_FEW_BARRIERS,
        an_atomic_a_warp(lambda case: WARPS),
        AS_FEW_SHUFFLES,
        READ_IN_ORDER,
        NO_FLOAT64,
    ),
    share=ONE_CELL_EACH,
)

"""Puzzle `argmax`: where the largest number of each row stands."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpu_course.lessons.reductions_and_scans.rows import rows_of_numbers
from gpu_course.lessons.reductions_and_scans.sums import (
    AS_FEW_BARRIERS,
    AS_FEW_SHUFFLES,
    NO_FLOAT64,
    TPB,
    WARPS,
)
from gpu_course.puzzle.builders import ONE_CELL_EACH, gives, sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, KernelPuzzle, Launch, Values
from gpu_course.puzzle.warp_budgets import READ_IN_ORDER, an_atomic_a_warp


def _places(a: np.ndarray) -> np.ndarray:
    return np.argmax(_no_nan(a), axis=1).astype(np.int32)


def _no_nan(a: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(a), np.float32(-np.inf), a)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """Knows answers that point at numbers as large as those they should, in whatever order."""
    if case.sizes.get("lowest"):
        return "began-too-high"
    a, wrong = inputs["a"], np.flatnonzero(got["out"] != expected["out"])
    there = got["out"][wrong]
    if not ((there >= 0) & (there < a.shape[1])).all():
        return None
    tie = np.array_equal(a[wrong, there], a[wrong, expected["out"][wrong]])
    return "tie" if tie else None


ARGMAX = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=4, cols=100),
        sized("one cell", rows=1, cols=1),
        sized("31 columns", rows=2, cols=31),
        sized("33 columns below zero", rows=4, cols=33, negative=1),
        sized("more columns than threads", rows=9, cols=300),
        sized("many equal numbers", rows=8, cols=150, ties=1),
        sized("the largest number twice", rows=12, cols=190, twins=1),
        sized("a row for every warp to work on", rows=2, cols=1300),
        sized("some NaN, and a row of them", rows=6, cols=141, nans=3),
        sized("numbers as low as they come", rows=3, cols=70, lowest=1),
        sized("numbers that hardly differ", rows=4, cols=256, doublings=-30),
    ),
    random_case=lambda rng: sized(
        "sizes drawn at random",
        rows=int(rng.integers(2, 5)),
        cols=int(rng.integers(40, 300)),
        ties=int(rng.integers(0, 2)),
        nans=int(rng.integers(0, 3)),
    ),
    inputs=rows_of_numbers,
    launches=lambda case: (Launch("argmax", case.sizes["rows"], TPB, ("out", "a", "cols")),),
    reference=gives(_places),
    budgets=(
        AS_FEW_BARRIERS,
        an_atomic_a_warp(lambda case: WARPS * case.sizes["rows"]),
        AS_FEW_SHUFFLES,
        READ_IN_ORDER,
        replace(NO_FLOAT64, counter="float64_operations + float64_comparisons"),
    ),
    diagnose=_diagnose,
    share=ONE_CELL_EACH,
)

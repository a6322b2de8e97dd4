"""Puzzle `softmax_row_max`: what softmax needs to know of each row."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.rows import FROM_COLUMN_0, rows_of_numbers
from gpu_course.lessons.reductions_and_scans.sums import (
    AS_FEW_BARRIERS,
    AS_FEW_SHUFFLES,
    NO_FLOAT64,
    TPB,
    WARPS,
)
from gpu_course.puzzle.builders import ONE_CELL_EACH, gives, sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Bonus,
    Budget,
    Case,
    KernelPuzzle,
    Launch,
    Values,
)
from gpu_course.puzzle.warp_budgets import READ_IN_ORDER, an_atomic_a_warp

Outputs = dict[str, np.ndarray]


def _with(largest: np.ndarray, total: np.ndarray) -> Outputs:
    return {"largest": largest.astype(np.float32), "total": total.astype(np.float32)}


def _beyond(a: np.ndarray, most: np.ndarray) -> np.ndarray:
    """The sums of exp(a - most) over rows; `most` has a number for each row or for each cell."""
    each = most[:, None] if most.ndim == 1 else most
    return np.asarray(np.exp(a.astype(np.float64) - each).sum(axis=1))


def _right(a: np.ndarray) -> Outputs:
    return _with(a.max(axis=1), _beyond(a, a.max(axis=1)))


def _read_once(case: Case) -> int:
    """Each number once, and a first number that every warp may begin with."""
    return 4 * case.sizes["rows"] * (case.sizes["cols"] + WARPS)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """Knows rows of low numbers whose largest is too high, whatever the search began with."""
    high = case.sizes.get("lowest") and (got["largest"] > expected["largest"]).any()
    return "began-too-high" if high else None


SOFTMAX_ROW_MAX = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=4, cols=100),
        sized("one cell", rows=1, cols=1),
        sized("31 columns", rows=2, cols=31),
        sized("33 columns below zero", rows=4, cols=33, negative=1),
        sized("exactly one each", rows=2, cols=128),
        sized("a few hundred columns", rows=6, cols=261),
        sized("a row for every warp to work on", rows=1, cols=1300),
        sized("numbers as low as they come", rows=3, cols=140, lowest=FROM_COLUMN_0),
    ),
    random_case=lambda rng: sized(
        "sizes drawn at random", rows=int(rng.integers(2, 5)), cols=int(rng.integers(40, 300))
    ),
    inputs=rows_of_numbers,
    launches=lambda case: (
        Launch("softmax_row_max", case.sizes["rows"], TPB, ("largest", "total", "a", "cols")),
    ),
    reference=gives(_right),
    tolerance=(1e-5, 0.0),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: counters.global_load.bytes,
            "Two passes over a row are enough: one for the largest number, one for the sum.",
            "bytes loaded from a",
        ),
        AS_FEW_BARRIERS,
        an_atomic_a_warp(lambda case: 2 * WARPS * case.sizes["rows"]),
        AS_FEW_SHUFFLES,
        READ_IN_ORDER,
        NO_FLOAT64,
    ),
    diagnose=_diagnose,
    share=ONE_CELL_EACH,
    bonus=Bonus(
        "global_load.bytes",
        _read_once,
    ),
)

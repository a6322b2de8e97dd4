"""Puzzle `softmax_row_max`: what softmax needs to know of each row."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.rows import FROM_COLUMN_0, rows_of_numbers
from gpu_course.lessons.reductions_and_scans.sums import (
    AS_FEW_BARRIERS,
    AS_FEW_SHUFFLES,
    NO_FLOAT64,
    TPB,
    WARP,
    WARPS,
    recognise_nearly,
)
from gpu_course.puzzle.builders import ONE_CELL_EACH, gives, sized
from gpu_course.puzzle.room import told
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


def _from_zero(a: np.ndarray) -> Outputs:
    most = np.maximum(a.max(axis=1), 0)
    return _with(most, _beyond(a, most))


def _places_counted(a: np.ndarray) -> Outputs:
    return _with(a.max(axis=1), _right(a)["total"] + -a.shape[1] % TPB)


def _of_each_warp(a: np.ndarray) -> Outputs:
    """Each warp takes away the largest number it has met itself, or that of column 0."""
    warps = np.arange(a.shape[1]) % TPB // WARP
    most = np.stack(
        [
            np.max(a[:, warps == w], axis=1, initial=-np.inf) if (warps == w).any() else a[:, 0]
            for w in range(WARPS)
        ],
        axis=1,
    )
    most = np.maximum(most, a[:, :1])
    return _with(most[:, 0], _beyond(a, most[:, warps]))


def _of_each_lane(a: np.ndarray) -> Outputs:
    """A lane other than 0 knows the largest of the lanes behind it, and its own."""
    lanes = np.full((len(a), TPB), -np.inf)
    for col in range(a.shape[1]):
        lanes[:, col % TPB] = np.maximum(lanes[:, col % TPB], a[:, col])
    lanes = np.maximum(lanes, a[:, :1]).reshape(len(a), WARPS, WARP)
    behind = np.maximum.accumulate(lanes[:, :, ::-1], axis=2)[:, :, ::-1].copy()
    behind[:, :, 0] = a.max(axis=1)[:, None]
    most = behind.reshape(len(a), TPB)[:, np.arange(a.shape[1]) % TPB]
    return _with(a.max(axis=1), _beyond(a, most))


def _read_once(case: Case) -> int:
    """Each number once, and a first number that every warp may begin with."""
    return 4 * case.sizes["rows"] * (case.sizes["cols"] + WARPS)


_known = recognise_nearly(
    ("began-at-zero", _from_zero),
    ("places-counted", _places_counted),
    ("largest-of-a-warp", _of_each_warp),
    ("largest-of-a-lane", _of_each_lane),
    ("nothing-taken-away", lambda a: _with(a.max(axis=1), _beyond(a, np.zeros(len(a))))),
)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """Knows some ideas; and rows of low numbers whose largest is too high."""
    if case.sizes.get("lowest"):
        return "began-too-high" if (got["largest"] > expected["largest"]).any() else None
    return _known(inputs, case, expected, got)


SOFTMAX_ROW_MAX = KernelPuzzle(
    **told(__file__),
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

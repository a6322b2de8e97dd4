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
    WARP,
    WARPS,
)
from gpu_course.puzzle.builders import ONE_CELL_EACH, gives, recognise, sized
from gpu_course.puzzle.room import told
from gpu_course.puzzle.specification import Case, KernelPuzzle, Launch, Values
from gpu_course.puzzle.warp_budgets import READ_IN_ORDER, an_atomic_a_warp


def _places(a: np.ndarray) -> np.ndarray:
    return np.argmax(_no_nan(a), axis=1).astype(np.int32)


def _no_nan(a: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(a), np.float32(-np.inf), a)


def _last_of_equals(a: np.ndarray) -> np.ndarray:
    return (a.shape[1] - 1 - np.argmax(_no_nan(a)[:, ::-1], axis=1)).astype(np.int32)


def _from_zero(a: np.ndarray) -> np.ndarray:
    return np.where(_no_nan(a).max(axis=1) > 0, _places(a), 0).astype(np.int32)


def _of_the_first_warp(a: np.ndarray) -> np.ndarray:
    met = np.flatnonzero(np.arange(a.shape[1]) % TPB < WARP)
    return met[np.argmax(_no_nan(a)[:, met], axis=1)].astype(np.int32)


def _from_a_nan(a: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(a[:, 0]), 0, _places(a)).astype(np.int32)


def _column_of_lane_0(a: np.ndarray) -> np.ndarray:
    """What is left where the lanes hand on their numbers without the columns."""
    threads = np.arange(a.shape[1]) % TPB
    out = []
    for row in _no_nan(a):
        found = []
        for first in range(0, TPB, WARP):
            met, own = row[threads // WARP == first // WARP], np.flatnonzero(threads == first)
            at = own[np.argmax(row[own])] if len(own) else 0
            found.append((-met.max(initial=-np.inf), int(at)))
        out.append(min(found)[1])
    return np.array(out, np.int32)


_known = recognise(
    ("began-at-zero", lambda a: _from_zero(a)),
    ("last-of-equals", lambda a: _last_of_equals(a)),
    ("nan-sticks", _from_a_nan),
    ("one-warp", _of_the_first_warp),
    ("column-of-its-own", _column_of_lane_0),
)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """Knows some ideas, and answers that point at numbers as large as those they should."""
    key = "began-too-high" if case.sizes.get("lowest") else _known(inputs, case, expected, got)
    a, wrong = inputs["a"], np.flatnonzero(got["out"] != expected["out"])
    there = got["out"][wrong]
    if key is not None or not ((there >= 0) & (there < a.shape[1])).all():
        return key
    pointed, wanted = a[wrong, there], a[wrong, expected["out"][wrong]]
    if np.array_equal(pointed, wanted):
        return "tie"
    return "nan-in-the-way" if np.isnan(a[wrong]).any(axis=1).all() else None


ARGMAX = KernelPuzzle(
    **told(__file__),
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

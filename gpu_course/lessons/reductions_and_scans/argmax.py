"""Puzzle `argmax`: where the largest number of each row stands."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpu_course.lessons.reductions_and_scans.rows import rows_of_numbers
from gpu_course.lessons.reductions_and_scans.sums import (
    ALL_LANES,
    AS_FEW_BARRIERS,
    AS_FEW_SHUFFLES,
    NO_FLOAT64,
    OUTSIDE_THE_TILE,
    READ_IN_ORDER,
    TPB,
    WARP,
    WARPS,
    an_atomic_a_warp,
)
from gpu_course.puzzle.builders import ONE_CELL_EACH, gives, recognise, sized
from gpu_course.puzzle.specification import Case, Debrief, KernelPuzzle, Launch, Mistake, Values


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


DEBRIEF = Debrief(
    shows=("shuffles", "barriers", "global_load.bytes"),
    why=(
        "A number and its column travel together as one value, and of two such values one rule "
        "says which is better. The rule settles ties and NaN too, so the order of the steps has "
        "no say in the result."
    ),
    alternative=(
        "Number and column can be packed into one integer whose order is that of the rule. Then "
        "one shuffle moves both, and even an atomic maximum could do the work."
    ),
)

ARGMAX = KernelPuzzle(
    name="05_reductions_and_scans/argmax",
    title="where each row's largest number is",
    difficulty="hard",
    minutes=15,
    debrief=DEBRIEF,
    statement=(
        "out[row] is the column in which the largest number of the row stands. Of equal numbers "
        "the first counts. A NaN counts as minus infinity: it is passed over where there is any "
        "number, and a row with nothing else gives column 0. Each row has a block of its own; each "
        "thread writes at most one cell, and all but one write none. One barrier is enough. Loads "
        "are in order, and all arithmetic is float32. Infinities are numbers like any other, and "
        "of two numbers that hardly differ the larger one wins."
    ),
    parameters={"argmax": ("out", "a", "cols")},
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
    diagnoses={
        **OUTSIDE_THE_TILE,
        "race": (
            "Threads of two warps met at a place of the tile, with nothing to order them. Which "
            "line must all warps have finished before the last comparison?"
        ),
        "began-at-zero": (
            "In rows without a number above 0 your column is 0: the search begins at 0, which no "
            "number of theirs beats. Which number does every other one beat?"
        ),
        "began-too-high": (
            "Here all numbers are as low as numbers get, and some of your columns are wrong. With "
            "which number does your search begin, and does each of these beat it?"
        ),
        "last-of-equals": (
            "Of equal numbers you take the last. The first should count, so an equal number wins "
            "only if it stands further left."
        ),
        "tie": (
            "You point at a number that is as large, but another of its kind stands further left. "
            "When two lanes have equal numbers, what decides which column goes on?"
        ),
        "nan-sticks": (
            "Rows that begin with a NaN give column 0. Every comparison with a NaN is false, so "
            "what begins as a NaN is never replaced."
        ),
        "nan-in-the-way": (
            "Every row that is wrong holds a NaN. A comparison with a NaN is false, and `not` of "
            "it is true: what does your rule do when one of the two numbers is a NaN?"
        ),
        "one-warp": (
            "You point at the largest number that the first warp met. How do the other warps' "
            "numbers and columns reach the thread that stores?"
        ),
        "column-of-its-own": (
            "The right number wins, but the column is one that lane 0 met itself. A lane that "
            "takes a number from another one needs that one's column, too."
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "It is a reduction of pairs: a number and its column. Say in words when one pair is "
            "better than another, with ties and NaN, before you write any code."
        ),
        (
            "Each thread begins with the pair of minus infinity and column 0, which no number of "
            "the row loses against. It goes over its columns from left to right, so there only a "
            "larger number wins."
        ),
        (
            "Two shuffles bring the number and the column of another lane. There the other pair "
            "may also win with an equal number, if its column is the smaller one. The same rule "
            "holds between warps, behind the barrier."
        ),
    ),
    mistakes=(
        Mistake("no_barrier", "hazard", "race"),
        Mistake("ties_as_they_come", "wrong-result", "tie"),
        Mistake("last_of_equal_numbers", "wrong-result", "last-of-equals"),
        Mistake("began_at_a_nan", "wrong-result", "nan-sticks"),
        Mistake("not_smaller_wins", "wrong-result", "nan-in-the-way"),
        Mistake("began_at_zero", "wrong-result", "began-at-zero"),
        Mistake("column_of_its_own", "wrong-result", "column-of-its-own"),
        Mistake("first_warp_only", "wrong-result", "one-warp"),
        Mistake("tree_in_shared_memory", "over-budget", "over-budget"),
        Mistake("one_warp_of_each_block", "over-budget", "not-shared"),
        Mistake("one_thread_of_each_block", "over-budget", "not-shared"),
    ),
    constants={"TPB": TPB, "WARPS": WARPS, "ALL_LANES": ALL_LANES},
    equivalent_mutants={
        "argmax:constant:warp = t // 31": (
            "lane 0 of the four warps has t = 0, 32, 64, 96, and 31 divides these alike"
        ),
        "argmax:comparison:if x > best or (x == best and col <= at):": (
            "where number and column are the same, the pair is replaced by itself"
        ),
        "argmax:comparison:if x > best or (x == best and col <= at): #2": (
            "where number and column are the same, the pair is replaced by itself"
        ),
        "argmax:constant:for k in range(0, WARPS):": (
            "thread 0 already holds the pair of warp 0, which does not beat itself"
        ),
    },
    source=(
        "what `numpy.argmax` promises of ties, "
        "https://numpy.org/doc/stable/reference/generated/numpy.argmax.html"
    ),
)

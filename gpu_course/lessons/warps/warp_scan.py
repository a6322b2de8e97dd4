"""Puzzle `warp_scan`: running sums within each warp."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpu_course.lessons.warps import pieces
from gpu_course.lessons.warps.pieces import ALL, CASES, EVERYONE, TPB, WARP, by_warp, cells
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    enough_blocks,
    gives,
    recognise,
    sized,
    special,
)
from gpu_course.puzzle.specification import Bonus, Debrief, KernelPuzzle, Mistake

DELTAS = (1, 2, 4, 8, 16)
LANES = np.arange(WARP)

Adds = Callable[[np.ndarray, int], np.ndarray]
"""(number of each thread in the whole launch, delta) -> who adds what it fetched."""


def _scanned(a: np.ndarray, adds: Adds, deltas: tuple[int, ...] = DELTAS) -> np.ndarray:
    """Running sums as the steps make them, with a given idea of who adds."""
    rows = by_warp(a, fill=0)
    threads = np.arange(rows.size).reshape(rows.shape)
    for delta in deltas:
        source = np.where(delta > LANES, LANES, LANES - delta)
        rows = rows + np.where(adds(threads, delta), rows[:, source], np.float32(0))
    return cells(rows, len(a))


def _in_reach(threads: np.ndarray, delta: int) -> np.ndarray:
    return threads % WARP >= delta


def _right(a: np.ndarray) -> np.ndarray:
    return cells(by_warp(a, fill=0).cumsum(axis=1, dtype=np.float32), len(a))


def _before(a: np.ndarray) -> np.ndarray:
    return _right(a) - a


def _from_here_on(a: np.ndarray) -> np.ndarray:
    rows = by_warp(a, fill=0)[:, ::-1].cumsum(axis=1, dtype=np.float32)
    return cells(rows[:, ::-1], len(a))


DEBRIEF = Debrief(
    shows=("global_load.bytes", "shuffles"),
    why=(
        "Each step adds to a lane what another lane has summed already, so five steps bring up to "
        "32 numbers together. A lane that reaches past the beginning of its warp adds nothing."
    ),
    alternative=(
        "The distances may also shrink, from 16 to 1. The partial sums differ, and each lane ends "
        "with the same numbers in it."
    ),
    bonus=Bonus(
        goal="A warp without a cell need not shuffle at all.",
        counter="shuffles",
        limit=lambda case: pieces.STEPS * -(-case.sizes["size"] // WARP),
    ),
)

WARP_SCAN = KernelPuzzle(
    name="02_warps/warp_scan",
    title="running sums of a warp",
    difficulty="medium",
    minutes=15,
    debrief=DEBRIEF,
    statement=(
        "Running sums, begun anew in each warp: out[i] is the sum of the numbers of a from the "
        "first one of thread i's warp up to a[i], which is included. There are blocks of TPB "
        "threads, enough for all of a; each thread loads one number, and each thread writes at "
        "most one cell. Use no shared memory, no atomics, and five shuffles for each warp. NaN "
        "and infinities count as in any sum."
    ),
    parameters={"warp_scan": ("out", "a", "size")},
    cases=(
        *CASES,
        sized("200 large numbers", size=200, doublings=100),
        special("NaN and infinities", size=101),
    ),
    random_case=pieces.random_case,
    inputs=arrays("size", a="size"),
    launches=enough_blocks("warp_scan", "out", "a", "size", block=TPB),
    reference=gives(_right),
    budgets=(
        pieces.NO_TILE,
        *pieces.NO_ATOMICS,
        pieces.READ_ONCE,
        pieces.shuffles(
            "A lane need not fetch its predecessors one by one. What a neighbour has summed "
            "already can be fetched as one number, so the distance may double in each step."
        ),
    ),
    diagnose=recognise(
        ("no-lane-guard", lambda a: _scanned(a, lambda threads, delta: threads >= 0)),
        ("thread-not-lane", lambda a: _scanned(a, lambda threads, delta: threads >= delta)),
        ("one-lane-late", lambda a: _scanned(a, lambda threads, delta: threads % WARP > delta)),
        ("window-of-16", lambda a: _scanned(a, _in_reach, DELTAS[:-1])),
        ("own-left-out", lambda a: _scanned(a, _in_reach, DELTAS[1:])),
        ("exclusive", _before),
        ("from-here-on", _from_here_on),
    ),
    diagnoses={
        "inactive-lane": EVERYONE,
        "no-lane-guard": (
            "The first lanes count numbers twice. A shuffle that reaches past lane 0 gives a lane "
            "its own number: which lanes may add what they fetched?"
        ),
        "thread-not-lane": (
            "The first warp is right, and in all others the first lanes count numbers twice. "
            "Reaching past the beginning is a matter of the lane. What does your condition ask "
            "for?"
        ),
        "one-lane-late": (
            "In each step one lane too many is kept from adding. Lane 1 can reach lane 0 with a "
            "distance of 1."
        ),
        "window-of-16": (
            "The first 16 lanes are right; the others have the sum of their last 16 numbers "
            "alone. Which distance do your steps lack?"
        ),
        "own-left-out": (
            "Each lane has only every second of the numbers it should have. Which distance brings "
            "the direct neighbour?"
        ),
        "exclusive": (
            "Each sum lacks the lane's own number. The puzzle counts a[i] in (an inclusive scan)."
        ),
        "from-here-on": (
            "Each sum runs from the lane's own number to the end of the warp. From which side do "
            "your numbers come?"
        ),
        "race": "Two threads wrote to one cell. Each thread has a cell of its own: which?",
        "out-of-bounds": (
            "A lane without a cell touched memory. The load and the store need a guard; the "
            "shuffles must not have one."
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "`cuda.shfl_up_sync(mask, value, delta)` gives each lane the value of the lane delta "
            "before it. With delta = 1, what has each lane after it added that?"
        ),
        (
            "After the first step a lane has the sum of two numbers. The lane two before it has "
            "the two numbers before those. So which distance comes next, and after it?"
        ),
        (
            "All lanes shuffle, and only lanes that can reach so far back add. So fetch into a "
            "variable first, outside any condition; then let the lane's number decide."
        ),
    ),
    mistakes=(
        Mistake("shuffle_inside_the_guard", "hazard", "inactive-lane"),
        Mistake("shuffle_where_it_adds", "hazard", "inactive-lane"),
        Mistake("no_lane_guard", "wrong-result", "no-lane-guard"),
        Mistake("asked_the_thread", "wrong-result", "thread-not-lane"),
        Mistake("one_lane_late", "wrong-result", "one-lane-late"),
        Mistake("stopped_before_16", "wrong-result", "window-of-16"),
        Mistake("began_at_2", "wrong-result", "own-left-out"),
        Mistake("without_its_own", "wrong-result", "exclusive"),
        Mistake("fetched_from_above", "wrong-result", "from-here-on"),
        Mistake("load_without_a_guard", "hazard", "out-of-bounds"),
        Mistake("every_warp_in_the_first", "hazard", "race"),
        Mistake("one_neighbour_at_a_time", "over-budget", "over-budget"),
        Mistake("through_a_tile", "over-budget", "over-budget"),
        Mistake("every_lane_reads_back", "over-budget", "over-budget"),
        Mistake("one_lane_of_each_warp", "over-budget", "not-shared"),
    ),
    constants={"TPB": TPB, "ALL": ALL},
    equivalent_mutants={
        f"warp_scan:constant:total = a[i] if i < size else float32({number})": (
            "lanes without a cell are the last of their warp, and nobody fetches from a later lane"
        )
        for number in (1, -1)
    },
    source=(
        "Hillis and Steele, Data Parallel Algorithms, Communications of the ACM 29, 1986, "
        "https://doi.org/10.1145/7902.7903"
    ),
)

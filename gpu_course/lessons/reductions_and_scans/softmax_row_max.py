"""Puzzle `softmax_row_max`: what softmax needs to know of each row."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.rows import FROM_COLUMN_0, rows_of_numbers
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
    recognise_nearly,
)
from gpu_course.puzzle.builders import ONE_CELL_EACH, gives, sized
from gpu_course.puzzle.specification import (
    Bonus,
    Budget,
    Case,
    Debrief,
    KernelPuzzle,
    Launch,
    Mistake,
    Values,
)

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


DEBRIEF = Debrief(
    shows=("global_load.bytes", "barriers", "shuffles"),
    why=(
        "The largest number is taken away before the exponential, so no exponential is above 1 "
        "and at least one is 1: the sum can neither overflow nor vanish. All threads of the block "
        "have to know it, so it goes through the tile."
    ),
    alternative=(
        "The second use of the tile needs a barrier before it as well as after; a second small "
        "tile needs one barrier less. A reduction by `shfl_xor_sync` leaves the result in all "
        "lanes."
    ),
    bonus=Bonus(
        goal="Each number need come from global memory only once.",
        counter="global_load.bytes",
        limit=_read_once,
    ),
)

SOFTMAX_ROW_MAX = KernelPuzzle(
    name="05_reductions_and_scans/softmax_row_max",
    title="what softmax needs of each row",
    difficulty="hard",
    minutes=15,
    debrief=DEBRIEF,
    statement=(
        "The softmax of a row divides exp(x - m) by the sum of all exp(x - m), where m is the "
        "largest number of the row. Write both into an array each: largest[row] is m, and "
        "total[row] that sum. Each row has a block of its own, which may have fewer threads than "
        "the row has columns. Loads are in order, and all arithmetic is float32; each thread "
        "writes at most one cell of each array, and all but one write none. The tile has a place "
        "for each warp, and three barriers are enough. a holds no NaN and no positive infinity. A "
        "minus infinity adds nothing, and stands in column 0 only where the row has nothing else: "
        "then the largest number is minus infinity, and the total NaN."
    ),
    parameters={"softmax_row_max": ("largest", "total", "a", "cols")},
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
    diagnoses={
        **OUTSIDE_THE_TILE,
        "race": (
            "A place of the tile is written while another warp still reads it, or touched before "
            "what was written there is sure to be there. If the tile is used twice: what has to be "
            "over before its second use begins, and when may its places be read?"
        ),
        "began-at-zero": (
            "In rows without a number above 0 your largest is 0, which is not one of them. Begin "
            "with a number of the row itself."
        ),
        "began-too-high": (
            "Here all numbers are as low as numbers get, and your largest is none of them. Begin "
            "with a number of the row itself, or with one that is never larger."
        ),
        "places-counted": (
            "The sum is too large by the number of places without a column: exp(m - m) is 1. What "
            "should such a place add?"
        ),
        "largest-of-a-warp": (
            "Each warp takes away the largest number that it has met itself. All warps of the row "
            "need the same one."
        ),
        "largest-of-a-lane": (
            "The largest number is right, but not all lanes knew it when they took it away. After "
            "shuffles downwards only lane 0 has the result; how do the others get it?"
        ),
        "nothing-taken-away": (
            "The sum is one of exp(x), with nothing taken away. For x above 88 that is more than "
            "float32 can hold. Take the row's largest number from x first."
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "Two reductions like those of `dot`, the second of which needs the result of the "
            "first in every thread. How does a number reach all threads of a block?"
        ),
        (
            "After the first barrier every thread can read all the places of the tile and find the "
            "largest itself: the lanes read the same place at the same time, which costs one pass."
        ),
        (
            "Between reading the tile for the first result and filling it for the second there has "
            "to be a barrier, or a fast warp writes over what a slow one still wants. Behind the "
            "last barrier one thread adds up and stores both numbers."
        ),
    ),
    mistakes=(
        Mistake("tile_used_again_at_once", "hazard", "race"),
        Mistake("began_at_zero", "wrong-result", "began-at-zero"),
        Mistake("no_largest_taken_away", "wrong-result", "nothing-taken-away"),
        Mistake("largest_of_the_own_warp", "wrong-result", "largest-of-a-warp"),
        Mistake("largest_of_the_lane", "wrong-result", "largest-of-a-lane"),
        Mistake("places_without_a_column", "wrong-result", "places-counted"),
        Mistake("trees_in_shared_memory", "over-budget", "over-budget"),
        Mistake("in_float64", "over-budget", "over-budget"),
        Mistake("one_warp_of_each_block", "over-budget", "not-shared"),
        Mistake("one_thread_of_each_block", "over-budget", "not-shared"),
    ),
    constants={"TPB": TPB, "WARPS": WARPS, "ALL_LANES": ALL_LANES},
    equivalent_mutants={
        "softmax_row_max:constant:warp = t // 31": (
            "lane 0 of the four warps has t = 0, 32, 64, 96, and 31 divides these alike"
        ),
    },
)

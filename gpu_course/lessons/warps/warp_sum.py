"""Puzzle `warp_sum`: 32 lanes come to one sum."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.warps import pieces
from gpu_course.lessons.warps.pieces import ALL, CASES, EVERYONE, TPB, WARP, by_warp
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


def _sums(rows: np.ndarray) -> np.ndarray:
    return np.asarray(np.sum(rows, axis=1, dtype=np.float32))


def _right(a: np.ndarray) -> np.ndarray:
    return _sums(by_warp(a, fill=0))


def _last_cell_again(a: np.ndarray) -> np.ndarray:
    return _sums(by_warp(a, fill=float(a[-1])))


def _last_lane(a: np.ndarray, fill: float) -> np.ndarray:
    """What lane 31 has: it gets its own number each time."""
    return by_warp(a, fill)[:, WARP - 1] * np.float32(WARP)


DEBRIEF = Debrief(
    shows=("global_load.bytes", "shuffles"),
    why=(
        "Each step doubles how many numbers the sum of lane 0 has, so five steps make 32 of one. "
        "All of it happens in registers: no lane goes to memory for what its neighbour knows."
    ),
    alternative=(
        "The distances may also grow, from 1 to 16. The sum in lane 0 is then made of neighbours "
        "first, and on a GPU it takes just as long."
    ),
    bonus=Bonus(
        goal="A warp without a cell need not shuffle at all.",
        counter="shuffles",
        limit=lambda case: pieces.STEPS * -(-case.sizes["size"] // WARP),
    ),
)

WARP_SUM = KernelPuzzle(
    name="02_warps/warp_sum",
    title="32 lanes, one sum",
    difficulty="easy",
    minutes=10,
    debrief=DEBRIEF,
    statement=(
        "Each warp adds up its 32 numbers: out[w] is the sum of a[32 * w] to a[32 * w + 31]. The "
        "last warp may have fewer numbers. There are blocks of TPB threads, enough for all of a; "
        "each thread loads one number, and each thread writes at most one cell of out. Use no "
        "shared memory, no atomics, and five shuffles for each warp. NaN and infinities count as "
        "in any sum."
    ),
    parameters={"warp_sum": ("out", "a", "size")},
    cases=(
        *CASES,
        sized("1,000 large numbers", size=1000, doublings=100),
        special("NaN and infinities", size=101),
    ),
    random_case=pieces.random_case,
    inputs=arrays("size", a="size"),
    launches=enough_blocks("warp_sum", "out", "a", "size", block=TPB),
    reference=gives(_right),
    budgets=(
        pieces.NO_TILE,
        *pieces.NO_ATOMICS,
        pieces.READ_ONCE,
        pieces.shuffles(
            "Lane 0 does not need a shuffle for each number: a shuffle moves 32 values at once. "
            "If all lanes add what they get, each step doubles what a lane has summed."
        ),
    ),
    diagnose=recognise(
        ("last-cell-again", _last_cell_again),
        ("half-a-warp", lambda a: _sums(by_warp(a, fill=0)[:, : WARP // 2])),
        ("even-lanes", lambda a: _sums(by_warp(a, fill=0)[:, ::2])),
        ("twice", lambda a: 2 * _right(a)),
        ("lane-0-alone", lambda a: by_warp(a)[:, 0] * np.float32(WARP)),
        ("last-lane", lambda a: _last_lane(a, 0)),
        ("last-lane", lambda a: _last_lane(a, np.nan)),
    ),
    diagnoses={
        "inactive-lane": EVERYONE,
        "last-cell-again": (
            "The last number counts more than once. A lane without a cell still takes part in the "
            "sum: which number does no harm there?"
        ),
        "half-a-warp": (
            "Only the first 16 lanes of each warp are in the sum. Which distance brings the "
            "numbers of the other 16?"
        ),
        "even-lanes": (
            "Only the lanes with even numbers are in the sum. Which distance did your steps leave "
            "out?"
        ),
        "twice": (
            "Each sum is twice what it should be. A shuffle that reaches past the end of the warp "
            "gives a lane its own number: which of your distances has no lane to read from?"
        ),
        "lane-0-alone": (
            "Your sum is 32 times the number of lane 0. On the side from which you fetch, lane 0 "
            "has no neighbour, and it got its own number at each step."
        ),
        "last-lane": (
            "The sum is in another lane. Which lane has all 32 numbers when you fetch from higher "
            "lanes, and which has nobody to fetch from?"
        ),
        "race": (
            "Several threads write one cell of out. How many lanes of a warp should write, and "
            "does the cell depend on the warp?"
        ),
        "out-of-bounds": (
            "A lane without a cell loaded a number, or a warp without cells wrote a sum. Both need "
            "a guard; the shuffles must not have one."
        ),
        "unwritten": (
            "No lane wrote a sum. Which lane is let through at the end, and does it have a cell?"
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "`cuda.shfl_down_sync(mask, value, delta)` gives each lane the value of the lane delta "
            "further on. After you add it, what does lane 0 hold, and what does lane 1?"
        ),
        (
            "A lane without a cell must come to the shuffles as well, so it needs a number: one "
            "that changes no sum. The guard goes round the load and round the store."
        ),
        (
            "Begin with the lanes 16 away, then 8 away, and so on: each distance is half of the "
            "one before, down to 1. Then the lane that never ran out of neighbours writes."
        ),
    ),
    mistakes=(
        Mistake("shuffle_inside_the_guard", "hazard", "inactive-lane"),
        Mistake("half_of_the_mask", "hazard", "inactive-lane"),
        Mistake("last_cell_again", "wrong-result", "last-cell-again"),
        Mistake("began_at_8", "wrong-result", "half-a-warp"),
        Mistake("stopped_before_1", "wrong-result", "even-lanes"),
        Mistake("began_at_32", "wrong-result", "twice"),
        Mistake("fetched_from_below", "wrong-result", "lane-0-alone"),
        Mistake("last_lane_writes", "wrong-result", "last-lane"),
        Mistake("every_lane_writes", "hazard", "race"),
        Mistake("one_cell_for_the_block", "hazard", "race"),
        Mistake("load_without_a_guard", "hazard", "out-of-bounds"),
        Mistake("thirty_one_shuffles", "over-budget", "over-budget"),
        Mistake("through_a_tile", "over-budget", "over-budget"),
        Mistake("atomics", "over-budget", "over-budget"),
        Mistake("one_lane_reads_all", "over-budget", "over-budget"),
        Mistake("one_thread_of_each_block", "over-budget", "not-shared"),
    ),
    constants={"TPB": TPB, "ALL": ALL},
    source=(
        "NVIDIA, Using CUDA Warp-Level Primitives, 2018, "
        "https://developer.nvidia.com/blog/using-cuda-warp-level-primitives/"
    ),
)

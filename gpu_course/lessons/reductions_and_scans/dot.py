"""Puzzle `dot`: the sum of all products, with one barrier."""

from __future__ import annotations

import numpy as np

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
    summed,
)
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    drawn,
    gives,
    recognise,
    sized,
    with_special_numbers,
)
from gpu_course.puzzle.specification import Debrief, KernelPuzzle, Launch, Mistake, Values


def _infinite_at_the_end(values: Values) -> None:
    values["a"][-1] = np.inf


def _zero_by_infinity(values: Values) -> None:
    values["a"][3], values["b"][3] = 0, np.inf


def _infinity_by_zero(values: Values) -> None:
    values["a"][3], values["b"][3] = np.inf, 0


def _sum_of(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return summed([a.astype(np.float64) * b])


def _first_warp(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    met = np.arange(len(a)) % TPB < WARP
    return _sum_of(a[met], b[met])


DEBRIEF = Debrief(
    shows=("shuffles", "barriers", "shared_load.requests"),
    why=(
        "Each thread adds up its own cells in a register, and lanes hand registers to each other "
        "directly. So only one number of each warp passes through the tile, behind one barrier."
    ),
    alternative=(
        "The last few numbers can be added by one thread, or by shuffles of the first warp. With "
        "32 warps in a block the second is five steps where the first takes 31."
    ),
)

DOT = KernelPuzzle(
    name="05_reductions_and_scans/dot",
    title="a sum of products, one barrier",
    difficulty="medium",
    minutes=12,
    debrief=DEBRIEF,
    statement=(
        "out[0] is the sum of a[i] * b[i] over all cells. One block of TPB threads does all of it, "
        "whatever the size. Each thread adds up the products it meets, the lanes of a warp "
        "exchange their sums by shuffles, and one number of each warp goes into the tile: there is "
        "one barrier in the kernel. Loads are in order, and all sums are float32. Each thread "
        "writes at most one cell, and all but one write none. NaN and infinities count as in any "
        "sum, and 0 times infinity is NaN."
    ),
    parameters={"dot": ("out", "a", "b", "size")},
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
    random_case=drawn(size=(130, 500)),
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
    diagnose=recognise(
        ("cells-left-out", lambda a, b: _sum_of(a[:TPB], b[:TPB])),
        ("one-warp", _first_warp),
        ("squares", lambda a, b: _sum_of(a, a)),
        ("squares", lambda a, b: _sum_of(b, b)),
    ),
    diagnoses={
        **OUTSIDE_THE_TILE,
        "race": (
            "A place of the tile is written by one thread and touched by another, and nothing "
            "orders the two. Which lane of a warp knows its sum, and when have all warps stored "
            "theirs?"
        ),
        "inactive-lane": (
            "A shuffle names 32 lanes, and some of them did not come to it. A lane without a cell "
            "has a sum too: which?"
        ),
        "one-warp": (
            "Your result is what the first warp met. The other warps have sums as well; how do "
            "they reach the thread that stores?"
        ),
        "cells-left-out": (
            "Only the first TPB products are in your sum. There may be more cells than threads."
        ),
        "squares": "You multiply an array with itself. Which two arrays does the product take?",
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "Three sums, one after the other: of what a thread meets, of the lanes of a warp, of "
            "the warps of the block. Only the last needs the tile."
        ),
        (
            "The first is a loop from the thread's number on, in steps of the block. The second "
            "is five shuffles at distances 16, 8, 4, 2, 1, by all 32 lanes of every warp."
        ),
        (
            "After the shuffles lane 0 has the sum of its warp, and stores it in the tile under "
            "the number of the warp. Behind the barrier, one warp or one thread adds those up."
        ),
    ),
    mistakes=(
        Mistake("no_barrier", "hazard", "race"),
        Mistake("every_lane_stores", "hazard", "race"),
        Mistake("shuffles_where_cells_are", "hazard", "inactive-lane"),
        Mistake("first_warp_only", "wrong-result", "one-warp"),
        Mistake("one_cell_each", "wrong-result", "cells-left-out"),
        Mistake("squares", "wrong-result", "squares"),
        Mistake("tree_in_shared_memory", "over-budget", "over-budget"),
        Mistake("sums_in_float64", "over-budget", "over-budget"),
        Mistake("one_thread", "over-budget", "not-shared"),
    ),
    constants={"TPB": TPB, "WARPS": WARPS, "ALL_LANES": ALL_LANES},
    equivalent_mutants={
        "dot:constant:warp = t // 31": (
            "lane 0 of the four warps has t = 0, 32, 64, 96, and 31 divides these alike"
        ),
    },
    source=(
        "after Justin Luitjens, 'Faster Parallel Reductions on Kepler', NVIDIA Developer Blog, "
        "2014, https://developer.nvidia.com/blog/faster-parallel-reductions-kepler/"
    ),
)

"""Puzzle `sum_rows`: a sum for each row, by a warp."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.coalescing.pieces import WARP, loads_in_order
from gpu_course.lessons.warps.pieces import NO_ATOMICS, STEPS
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    blocks_to_cover,
    drawn,
    gives,
    recognise,
    sized,
    special,
)
from gpu_course.puzzle.specification import Budget, Case, Debrief, KernelPuzzle, Launch, Mistake

TPB = 128


def _weighted(a: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return np.asarray((a * weights.astype(np.float32)).sum(axis=1, dtype=np.float32))


def _lanes(a: np.ndarray) -> np.ndarray:
    """Which lane has each column where the lanes go along a row together."""
    return np.arange(a.shape[1]) % WARP


def _launched_warps(case: Case) -> int:
    warps = TPB // WARP
    return blocks_to_cover(case.sizes["rows"], warps) * warps


DEBRIEF = Debrief(
    shows=("global_load.requests", "global_load.sectors", "global_load.excess_sectors"),
    why=(
        "The lanes that share a row go along it side by side, and so they fill the sectors they "
        "touch. The price is a part of the sum in each lane, which no memory is needed to add up: "
        "the parts are in registers, and shuffles bring them together."
    ),
    alternative=(
        "Add up by shfl_xor and every lane has the sum. Short rows leave most lanes of a warp "
        "idle. Where each row begins with a sector, 8 lanes may have a row: one full sector for "
        "each of four rows."
    ),
)

SUM_ROWS = KernelPuzzle(
    name="03_coalescing/sum_rows",
    title="a sum for each row",
    difficulty="medium",
    minutes=12,
    debrief=DEBRIEF,
    statement=(
        "out[row] is the sum of row `row` of `a`. There is at least one warp of 32 threads for "
        "each row, in blocks of TPB threads. Each thread writes at most one cell. No load may "
        "touch more sectors than it has to. Lesson 02 has shown how a warp adds up 32 numbers. "
        "NaN and infinities count as in any sum."
    ),
    parameters={"sum_rows": ("out", "a", "rows", "cols")},
    cases=(
        sized("visible example", visible=True, rows=6, cols=80),
        sized("one cell", rows=1, cols=1),
        sized("more rows than columns", rows=70, cols=13),
        sized("rows of exactly a warp", rows=8, cols=32),
        sized("ragged rows of large numbers", rows=5, cols=131, doublings=90),
        special("NaN and infinities", rows=7, cols=67),
    ),
    random_case=drawn(rows=(5, 40), cols=(33, 150)),
    inputs=arrays("rows", "cols", a="rows cols"),
    large=lambda least_bytes: sized(
        "past L2", rows=blocks_to_cover(least_bytes, 4 * 1024), cols=1024
    ),
    launches=lambda case: (
        Launch(
            "sum_rows",
            blocks_to_cover(case.sizes["rows"], TPB // WARP),
            TPB,
            ("out", "a", "rows", "cols"),
        ),
    ),
    reference=gives(lambda a: a.sum(axis=1, dtype=np.float32)),
    budgets=(
        loads_in_order(
            "Each lane goes along its own cells, and that is orderly for one lane. But 32 lanes "
            "load at the same moment: how far apart are the cells of lanes 0, 1 and 2?"
        ),
        Budget(
            "shuffles",
            lambda case, counters: STEPS * _launched_warps(case),
            "All lanes add what a shuffle brings, so each step doubles what lane 0 has: five steps "
            "gather 32 parts.",
            "shuffles",
        ),
        *NO_ATOMICS,
    ),
    diagnose=recognise(
        ("not-combined", lambda a: _weighted(a, _lanes(a) == 0)),
        ("half-the-lanes", lambda a: _weighted(a, _lanes(a) < WARP // 2)),
        ("counted-often", lambda a: _weighted(a, np.minimum(np.arange(a.shape[1]) + 1, WARP))),
    ),
    diagnoses={
        "race": (
            "Two threads store to one cell of out. Which lanes of a warp hold the sum of the whole "
            "row, and do two warps have the same row?"
        ),
        "out-of-bounds": (
            "The last block may have more warps than there are rows left. Which condition is the "
            "same for all lanes of a warp?"
        ),
        "inactive-lane": (
            "All the lanes that the mask names must come to a shuffle together, and every lane "
            "that comes must be named: here these are all 32. Only what they do with the result "
            "may differ."
        ),
        "not-combined": (
            "That is the sum of columns 0, 32, 64 and so on: the part of lane 0. Which lanes hold "
            "the rest of the row?"
        ),
        "half-the-lanes": (
            "Only the parts of lanes 0 to 15 are in the sum. Which distance brings those of the "
            "other 16?"
        ),
        "counted-often": (
            "Later cells of a row count many times. A lane begins at its own number; where is its "
            "next cell, if 32 lanes share the row?"
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "For a column, a thread went down and its warp went along. For a row it is the other "
            "way round: a thread that goes along a row takes its warp down a column."
        ),
        (
            "Give each row to a warp. Lane 0 begins at cell 0, lane 1 at cell 1, and all of them "
            "move on by 32. Each lane then holds a part of the sum."
        ),
        (
            "A shuffle down by 16, 8, 4, 2 and 1 gathers the 32 parts in lane 0. All lanes of the "
            "warp have to be there for it, so guard the row, which they have in common, and let "
            "lane 0 alone store."
        ),
    ),
    mistakes=(
        Mistake("a_thread_for_a_row", "over-budget", "over-budget"),
        Mistake("a_piece_for_each_lane", "over-budget", "over-budget"),
        Mistake("partial_sums_not_combined", "wrong-result", "not-combined"),
        Mistake("one_exchange_too_few", "wrong-result", "half-the-lanes"),
        Mistake("no_step_in_the_loop", "wrong-result", "counted-often"),
        Mistake("every_lane_writes", "hazard", "race"),
        Mistake("warp_of_the_block", "hazard", "race"),
        Mistake("exchange_in_a_branch", "hazard", "inactive-lane"),
        Mistake("no_guard", "hazard", "out-of-bounds"),
        Mistake("one_thread_for_all_rows", "over-budget", "not-shared"),
    ),
    constants={"TPB": TPB, "WARP": WARP, "ALL": 0xFFFFFFFF},
)

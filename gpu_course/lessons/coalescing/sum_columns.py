"""Puzzle `sum_columns`: a sum for each column."""

from __future__ import annotations

import math

import numpy as np

from gpu_course.lessons.coalescing.pieces import TPB, loads_in_order
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
from gpu_course.puzzle.specification import Debrief, KernelPuzzle, Launch, Mistake

APART = (math.inf, -math.inf, 0.0, math.nan)
"""In this order the two infinities stand in two columns, and so their sums are infinite."""

DEBRIEF = Debrief(
    shows=("global_load.requests", "global_load.sectors", "global_load.excess_sectors"),
    why=(
        "Each thread goes down a column by itself, and yet the warp goes along the rows: in every "
        "turn of the loop its lanes load the neighbours in one row. What one thread does over time "
        "does not matter; what 32 lanes do at one time does."
    ),
    alternative=(
        "Several running sums for each thread let the additions overlap too: the loads never "
        "waited for them, but each addition waits for the one before it in its sum."
    ),
)

SUM_COLUMNS = KernelPuzzle(
    name="03_coalescing/sum_columns",
    title="a sum for each column",
    difficulty="easy",
    minutes=6,
    debrief=DEBRIEF,
    statement=(
        "out[col] is the sum of column `col` of `a`. Each thread writes at most one cell, and "
        "there is at least one thread for each column, in blocks of 64. No load may touch more "
        "sectors than it has to. NaN and infinities count as in any sum."
    ),
    parameters={"sum_columns": ("out", "a", "rows", "cols")},
    cases=(
        sized("visible example", visible=True, rows=5, cols=72),
        sized("one cell", rows=1, cols=1),
        sized("more rows than columns", rows=100, cols=40),
        sized("exactly one block", rows=33, cols=64),
        sized("ragged rows of large numbers", rows=6, cols=150, doublings=90),
        special("NaN and infinities", APART, rows=7, cols=67),
    ),
    random_case=drawn(rows=(2, 40), cols=(65, 200)),
    inputs=arrays("rows", "cols", a="rows cols"),
    launches=lambda case: (
        Launch(
            "sum_columns",
            blocks_to_cover(case.sizes["cols"], TPB),
            TPB,
            ("out", "a", "rows", "cols"),
        ),
    ),
    reference=gives(lambda a: a.sum(axis=0, dtype=np.float32)),
    budgets=(
        loads_in_order(
            "In one load, the lanes of a warp should read neighbours of one row. Which rows and "
            "columns do lanes 0, 1 and 2 have at that moment?"
        ),
    ),
    diagnose=recognise(
        ("odd-row", lambda a, rows: a[: rows - rows % 2].sum(axis=0, dtype=np.float32)),
        ("first-twice", lambda a: a.sum(axis=0, dtype=np.float32) + a[0]),
    ),
    diagnoses={
        "out-of-bounds": (
            "Two questions: does this thread have a column at all, and which of the two indices of "
            "a is the row?"
        ),
        "race": (
            "Two threads write to the same cell of out, so they have the same column. Write down "
            "the column of threads 0 and 1 in block 0, and of thread 0 in block 1."
        ),
        "wrong": (
            "No sum is right. Where does yours begin? A cell of out holds nothing before you write "
            "to it; a variable of the thread's own begins where you set it."
        ),
        "odd-row": (
            "The last row is missing. A loop that takes two rows at a time leaves one over where "
            "their number is odd; one that takes them singly has to go on up to row rows - 1."
        ),
        "first-twice": (
            "The first row counts twice: once as the start of the sum, and once in the loop."
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        "One thread for each column is enough. Where do its cells lie, and where its neighbour's?",
        (
            "A loop over the rows, with a running sum in a variable. In each turn the lanes of a "
            "warp have the same row and neighbouring columns."
        ),
        (
            "Start the sum as float32(0), or it becomes a float64. Guard the column once, outside "
            "the loop, and store after the loop."
        ),
    ),
    mistakes=(
        Mistake("a_different_row_for_each_lane", "over-budget", "over-budget"),
        Mistake("columns_dealt_out", "over-budget", "over-budget"),
        Mistake("indices_exchanged", "hazard", "out-of-bounds"),
        Mistake("added_to_what_is_there", "wrong-result", "wrong"),
        Mistake("no_guard", "hazard", "out-of-bounds"),
        Mistake("number_in_the_block", "hazard", "race"),
        Mistake("the_odd_row_left_out", "wrong-result", "odd-row"),
        Mistake("the_first_row_twice", "wrong-result", "first-twice"),
        Mistake("one_thread_for_all_columns", "over-budget", "not-shared"),
    ),
)

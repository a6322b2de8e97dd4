"""Puzzle `broadcast`: a column plus a row."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.threads.pictures import (
    OUTSIDE_2D,
    PICTURES,
    SWAPPED_AXES,
    random_picture,
    with_swapped_axes,
)
from gpu_course.puzzle.builders import (
    BRANCHES,
    ONE_CELL_EACH,
    TRAFFIC,
    arrays,
    gives,
    one_block,
    recognise,
)
from gpu_course.puzzle.specification import Debrief, KernelPuzzle, Mistake

DEBRIEF = Debrief(
    shows=(*TRAFFIC, *BRANCHES),
    why=(
        "Many threads may read one cell at the same time; only writing needs an owner. So nothing "
        "is copied or stretched: the small arrays are simply read with one index fixed at 0."
    ),
    alternative=(
        "a and b have two axes here, one of them of length 1. As plain vectors they would be "
        "a[row] and b[col]: what counts is which of the two numbers an array leaves out."
    ),
)

BROADCAST = KernelPuzzle(
    name="01_threads/broadcast",
    title="a column plus a row",
    difficulty="medium",
    minutes=7,
    debrief=DEBRIEF,
    statement=(
        "a is a column of shape (rows, 1), b is a row of shape (1, cols). Write the table of all "
        "their sums: out[row, col] is the column's number in that row plus the row's number in "
        "that column. One two-dimensional block covers out and may stick out of it: each thread "
        "writes at most one cell. a and b may hold NaN and infinities as well."
    ),
    parameters={"broadcast": ("out", "a", "b", "rows", "cols")},
    cases=PICTURES,
    random_case=random_picture,
    inputs=arrays("rows", "cols", a="rows 1", b="1 cols"),
    launches=one_block(
        "broadcast", "out", "a", "b", "rows", "cols", threads=("block_x", "block_y")
    ),
    reference=gives(lambda a, b: a + b),
    diagnose=recognise(
        ("multiplied", lambda a, b: a * b),
        ("rows-alike", lambda a, b, rows: np.repeat(a[:1] + b, rows, axis=0)),
        ("columns-alike", lambda a, b, cols: np.repeat(a + b[:, :1], cols, axis=1)),
        ("swapped-axes", lambda a, b, case: with_swapped_axes(a + b, case)),
    ),
    diagnoses={
        "multiplied": "This is the table of products. The puzzle asks for sums.",
        "rows-alike": (
            "Every row of out is the same, so the column a was read at one place only. Which index "
            "of a should follow the thread?"
        ),
        "columns-alike": (
            "Every column of out is the same, so the row b was read at one place only. Which index "
            "of b should follow the thread?"
        ),
        "swapped-axes": SWAPPED_AXES,
        "out-of-bounds": (
            OUTSIDE_2D + " a has a single column and b a single row, so one index of each never "
            "moves."
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "NumPy stretches a side of length 1 for you in a + b. A kernel stretches nothing: you "
            "say which cell is meant."
        ),
        (
            "How many columns does a have? Then there is one possible column index for a, "
            "whichever thread asks. The same goes for the rows of b."
        ),
        (
            "out needs both indices, a needs one of them, b needs the other. The guard is the one "
            "of map_2d."
        ),
    ),
    mistakes=(
        Mistake("indexed_like_out", "hazard", "out-of-bounds"),
        Mistake("column_and_row_exchanged", "hazard", "out-of-bounds"),
        Mistake("guard_for_rows_only", "hazard", "out-of-bounds"),
        Mistake("column_read_once", "wrong-result", "rows-alike"),
        Mistake("product_instead_of_sum", "wrong-result", "multiplied"),
        Mistake("row_from_x", "wrong-result", "swapped-axes"),
        Mistake("a_thread_for_each_column", "over-budget", "not-shared"),
    ),
    source="after 'Broadcast' in Sasha Rush, GPU-Puzzles, https://github.com/srush/GPU-Puzzles",
)

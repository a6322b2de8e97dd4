"""Puzzles of lesson 01 with one two-dimensional block: map_2d, broadcast."""

from __future__ import annotations

import numpy as np

from gpu_course.catalog.builders import (
    ONE_CELL_EACH,
    eighths,
    float32_out,
    one_block,
    recognise,
    sized,
    where_written,
)
from gpu_course.catalog.specification import Case, KernelPuzzle, Mistake, Values
from gpu_course.catalog.threads import debriefs

PICTURES = (
    sized("visible example", visible=True, rows=3, cols=5, block_x=6, block_y=4),
    sized("one cell", rows=1, cols=1, block_x=3, block_y=2),
    sized("a single row", rows=1, cols=7, block_x=8, block_y=2),
    sized("taller than wide", rows=9, cols=4, block_x=5, block_y=10),
    sized("exactly enough threads", rows=4, cols=8, block_x=8, block_y=4),
    sized("large numbers", rows=15, cols=60, block_x=64, block_y=16, doublings=10),
)
"""Sizes of the one-block 2-D puzzles: no square arrays and no square blocks."""


def _random_picture(rng: np.random.Generator) -> Case:
    rows, more = int(rng.integers(2, 10)), int(rng.integers(1, 9))
    return sized(
        "sizes drawn at random", rows=rows, cols=rows + more, block_x=rows + more + 1,
        block_y=rows + int(rng.integers(0, more)),
    )  # fmt: skip


def _picture(rng: np.random.Generator, case: Case) -> Values:
    rows, cols = case.sizes["rows"], case.sizes["cols"]
    return {"a": eighths(rng, (rows, cols), case), "rows": rows, "cols": cols}


def _column_and_row(rng: np.random.Generator, case: Case) -> Values:
    rows, cols = case.sizes["rows"], case.sizes["cols"]
    return {
        "a": eighths(rng, (rows, 1), case),
        "b": eighths(rng, (1, cols), case),
        "rows": rows,
        "cols": cols,
    }


def _with_swapped_axes(values: np.ndarray, case: Case) -> dict[str, np.ndarray]:
    # With row from x and col from y, the block reaches block_x rows and block_y columns.
    row, col = np.indices(values.shape)
    reached = (row < case.sizes["block_x"]) & (col < case.sizes["block_y"])
    return {"out": where_written(values, reached)}


SWAPPED_AXES = (
    "Whole rows or columns at the edge were never written, although there were enough threads. A "
    "block of shape (x, y) is x threads wide. Which of row and col should run along x?"
)
OUTSIDE_2D = (
    "A thread outside the array touched it. A thread is inside only when its row exists and its "
    "column exists; compare each index with the side it runs along, and look at the order of the "
    "two indices in the brackets."
)

MAP_2D = KernelPuzzle(
    name="01_threads/map_2d",
    title="a picture and a block that is larger",
    difficulty="easy",
    minutes=7,
    debrief=debriefs.MAP_2D,
    statement=(
        "a is a grey picture with `rows` rows and `cols` columns, its values between black and "
        "white. Write its negative, 1 - a[row, col], into out[row, col]. One two-dimensional "
        "block covers the picture, so that each thread writes at most one cell, and sticks out "
        "below and to the right."
    ),
    functions=("map_2d",),
    parameters={"map_2d": ("out", "a", "rows", "cols")},
    cases=PICTURES,
    random_case=_random_picture,
    inputs=_picture,
    outputs=float32_out("rows", "cols"),
    launches=one_block("map_2d", "out", "a", "rows", "cols", threads=("block_x", "block_y")),
    reference=lambda inputs, case: {"out": np.float32(1) - inputs["a"]},
    diagnose=recognise(
        (
            "swapped-axes",
            lambda inputs, case: _with_swapped_axes(np.float32(1) - inputs["a"], case),
        ),
        ("wrong-sign", lambda inputs, case: {"out": inputs["a"] - np.float32(1)}),
    ),
    diagnoses={
        "swapped-axes": SWAPPED_AXES,
        "wrong-sign": "Every value has the wrong sign: which of the two is taken from the other?",
        "out-of-bounds": OUTSIDE_2D,
        "race": (
            "Two threads wrote to one cell. A thread of this block needs both of its numbers: "
            "do both reach the index?"
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "A two-dimensional block gives each thread two numbers, threadIdx.x and threadIdx.y. "
            "Give them the names of what they stand for."
        ),
        (
            "Along a row of the picture the column changes. x is the axis along which neighbouring "
            "threads sit, so x and the column belong together."
        ),
        (
            "Draw the block over the picture: it sticks out on two sides, so the condition has two "
            "parts, and a thread must pass both."
        ),
    ),
    mistakes=(
        Mistake("row_from_x", "wrong-result", "swapped-axes"),
        Mistake("no_guard", "hazard", "out-of-bounds"),
        Mistake("guard_in_one_axis", "hazard", "out-of-bounds"),
        Mistake("guard_with_or", "hazard", "out-of-bounds"),
        Mistake("guard_with_swapped_sides", "hazard", "out-of-bounds"),
        Mistake("column_before_row", "hazard", "out-of-bounds"),
        Mistake("subtracted_the_wrong_way", "wrong-result", "wrong-sign"),
        Mistake("a_thread_for_each_row", "over-budget", "not-shared"),
    ),
    source="after 'Map 2D' in Sasha Rush, GPU-Puzzles, https://github.com/srush/GPU-Puzzles",
)


BROADCAST = KernelPuzzle(
    name="01_threads/broadcast",
    title="a column plus a row",
    difficulty="medium",
    minutes=7,
    debrief=debriefs.BROADCAST,
    statement=(
        "a is a column of shape (rows, 1), b is a row of shape (1, cols). Write the table of all "
        "their sums: out[row, col] is the column's number in that row plus the row's number in "
        "that column. One two-dimensional block covers out and may stick out of it: each thread "
        "writes at most one cell."
    ),
    functions=("broadcast",),
    parameters={"broadcast": ("out", "a", "b", "rows", "cols")},
    cases=PICTURES,
    random_case=_random_picture,
    inputs=_column_and_row,
    outputs=float32_out("rows", "cols"),
    launches=one_block(
        "broadcast", "out", "a", "b", "rows", "cols", threads=("block_x", "block_y")
    ),
    reference=lambda inputs, case: {"out": inputs["a"] + inputs["b"]},
    diagnose=recognise(
        ("multiplied", lambda inputs, case: {"out": inputs["a"] * inputs["b"]}),
        ("rows-alike", lambda inputs, case: {"out": _rows_alike(inputs, case)}),
        ("columns-alike", lambda inputs, case: {"out": _columns_alike(inputs, case)}),
        (
            "swapped-axes",
            lambda inputs, case: _with_swapped_axes(inputs["a"] + inputs["b"], case),
        ),
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


def _rows_alike(inputs: Values, case: Case) -> np.ndarray:
    return np.repeat(inputs["a"][:1] + inputs["b"], case.sizes["rows"], axis=0)


def _columns_alike(inputs: Values, case: Case) -> np.ndarray:
    return np.repeat(inputs["a"] + inputs["b"][:, :1], case.sizes["cols"], axis=1)

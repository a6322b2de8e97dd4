"""Puzzle `map_2d`: a picture and a block that is larger."""

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
        "A thread has a number along each axis, and it has a cell only where both numbers lie "
        "inside the picture. With x along a row, neighbouring threads touch neighbouring cells of "
        "memory."
    ),
    alternative=(
        "One flat number per thread would do as well: a division gives the row, its remainder the "
        "column. That needs no second axis, and costs a division."
    ),
)

MAP_2D = KernelPuzzle(
    name="01_threads/map_2d",
    title="a picture and a block that is larger",
    difficulty="easy",
    minutes=7,
    debrief=DEBRIEF,
    statement=(
        "a is a grey picture with `rows` rows and `cols` columns, its values between black and "
        "white. Write its negative, 1 - a[row, col], into out[row, col]. One two-dimensional "
        "block covers the picture, so that each thread writes at most one cell, and sticks out "
        "below and to the right. a may hold NaN and infinities as well."
    ),
    parameters={"map_2d": ("out", "a", "rows", "cols")},
    cases=PICTURES,
    random_case=random_picture,
    inputs=arrays("rows", "cols", a="rows cols"),
    launches=one_block("map_2d", "out", "a", "rows", "cols", threads=("block_x", "block_y")),
    reference=gives(lambda a: np.float32(1) - a),
    diagnose=recognise(
        ("swapped-axes", lambda a, case: with_swapped_axes(np.float32(1) - a, case)),
        ("wrong-sign", lambda a: a - np.float32(1)),
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

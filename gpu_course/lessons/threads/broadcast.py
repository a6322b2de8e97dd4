"""Puzzle `broadcast`: a column plus a row."""

from __future__ import annotations

from gpu_course.lessons.threads.pieces import (
    PICTURES,
    random_picture,
)
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    gives,
    one_block,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import KernelPuzzle

BROADCAST = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=PICTURES,
    random_case=random_picture,
    inputs=arrays("rows", "cols", a="rows 1", b="1 cols"),
    launches=one_block(
        "broadcast", "out", "a", "b", "rows", "cols", threads=("block_x", "block_y")
    ),
    reference=gives(lambda a, b: a + b),
    share=ONE_CELL_EACH,
)

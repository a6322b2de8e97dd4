"""Puzzle `blocks_2d`: a bias for every column."""

from __future__ import annotations

from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    drawn_case,
    enough_blocks,
    gives,
    sized,
    special,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import KernelPuzzle

BLOCKS_2D = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=5, cols=10, block_x=4, block_y=2),
        sized("one cell", rows=1, cols=1, block_x=4, block_y=2),
        sized("taller than wide", rows=37, cols=11, block_x=8, block_y=4),
        sized("large numbers", rows=37, cols=41, block_x=8, block_y=4, doublings=10),
        sized("wider than tall", rows=9, cols=70, block_x=16, block_y=4),
        sized("whole blocks only", rows=12, cols=32, block_x=16, block_y=4),
        special("NaN and infinities", rows=11, cols=19, block_x=8, block_y=4),
    ),
    random_case=drawn_case(rows=(5, 30), cols=(31, 60), block_x=[8, 16], block_y=[2, 4]),
    inputs=arrays("rows", "cols", a="rows cols", bias="cols"),
    launches=enough_blocks(
        "blocks_2d", "out", "a", "bias", "rows", "cols", block=("block_x", "block_y")
    ),
    reference=gives(lambda a, bias: a + bias),
    share=ONE_CELL_EACH,
)

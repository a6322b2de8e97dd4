"""Puzzle `blocks`: more data than a block."""

from __future__ import annotations

from gpu_course.lessons.threads.pieces import SEVERAL_BLOCKS
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

BLOCKS = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        *SEVERAL_BLOCKS,
        sized("1,000 cells", size=1000, block=128),
        sized("40,000 large numbers", size=40_000, block=256, doublings=10),
        special("NaN and infinities", size=77, block=16),
    ),
    random_case=drawn_case(size=(20, 600), block=[16, 24, 32, 64]),
    inputs=arrays("size", a="size"),
    launches=enough_blocks("blocks", "out", "a", "size"),
    reference=gives(lambda a: a * a),
    share=ONE_CELL_EACH,
)

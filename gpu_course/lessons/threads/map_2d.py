"""Puzzle `map_2d`: a picture and a block that is larger."""

from __future__ import annotations

import numpy as np

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

MAP_2D = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=PICTURES,
    random_case=random_picture,
    inputs=arrays("rows", "cols", a="rows cols"),
    launches=one_block("map_2d", "out", "a", "rows", "cols", threads=("block_x", "block_y")),
    reference=gives(lambda a: np.float32(1) - a),
    share=ONE_CELL_EACH,
)

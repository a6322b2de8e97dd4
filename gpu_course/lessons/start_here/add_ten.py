"""Puzzle `add_ten`: ten more in every cell."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import (
    ONE_BLOCK,
    ONE_CELL_EACH,
    arrays,
    drawn_case,
    gives,
    one_block,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import KernelPuzzle

ADD_TEN = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=ONE_BLOCK,
    random_case=drawn_case(size=(2, 200)),
    inputs=arrays(a="size"),
    launches=one_block("add_ten", "out", "a", threads="size"),
    reference=gives(lambda a: a + np.float32(10)),
    share=ONE_CELL_EACH,
)

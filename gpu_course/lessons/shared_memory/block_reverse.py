"""Puzzle `block_reverse`: every block reverses its piece."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.shared_memory.pieces import (
    CASES,
    TPB,
    by_piece,
    random_case,
)
from gpu_course.puzzle.builders import ONE_CELL_EACH, arrays, enough_blocks, gives
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, KernelPuzzle

BACKWARDS = (
    "Memory is moved 32 bytes at a time. Where a block's piece of the array does not end at such a "
    "boundary, going through it backwards moves 32 bytes too many. "
)


BLOCK_REVERSE = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=CASES,
    random_case=random_case,
    inputs=arrays("size", a="size"),
    launches=enough_blocks("block_reverse", "out", "a", "size", block=TPB),
    reference=gives(lambda a: by_piece(a, np.flip)),
    budgets=(
        Budget(
            "global_load.excess_sectors",
            0,
            BACKWARDS + "Let thread t read cell t of the piece, and reverse it in the tile.",
            fact="global memory is not read in order",
        ),
        Budget(
            "global_store.excess_sectors",
            0,
            BACKWARDS + "Let thread t write cell t of the piece, and reverse it in the tile.",
            fact="global memory is not written in order",
        ),
    ),
    share=ONE_CELL_EACH,
)

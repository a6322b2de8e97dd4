"""Puzzle `count_smaller`: every thread wants every number of its block."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.shared_memory.pieces import TPB, by_piece
from gpu_course.puzzle.builders import (
    INFINITIES,
    ONE_CELL_EACH,
    arrays,
    drawn_case,
    enough_blocks,
    gives,
    sized,
    special,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, Case, KernelPuzzle


def _counts(piece: np.ndarray) -> np.ndarray:
    return np.asarray(np.sum(piece[None, :] < piece[:, None], axis=1, dtype=np.int32))


def _each_number_once(case: Case, counters: object) -> int:
    return 4 * case.sizes["size"]


COUNT_SMALLER = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=2 * TPB),
        sized("one block", size=TPB),
        sized("five blocks of large numbers", size=5 * TPB, doublings=100),
        special("infinities", INFINITIES, size=3 * TPB),
    ),
    random_case=drawn_case(size=[blocks * TPB for blocks in range(2, 8)]),
    inputs=arrays(a="size"),
    launches=enough_blocks("count_smaller", "out", "a", block=TPB),
    reference=gives(lambda a: by_piece(a, _counts)),
    budgets=(
        Budget(
            "global_load.bytes",
            _each_number_once,
            "All threads of a block want the same 64 numbers. Let each thread load one and bring "
            "it into the tile; from then on look there, for your own number too.",
            "bytes loaded from global memory",
        ),
    ),
    share=ONE_CELL_EACH,
)

"""Puzzle `block_sum`: every block adds up its piece."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.sums import (
    NO_FLOAT64,
    TPB,
    VECTORS,
    WARPS,
    pieces,
    random_vector,
    summed,
)
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    blocks_to_cover,
    enough_blocks,
    gives,
    sized,
    with_special_numbers,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, KernelPuzzle, Values
from gpu_course.puzzle.warp_budgets import an_atomic_a_warp


def _put_special_numbers(values: Values) -> None:
    """A NaN in the first piece, an infinity as the last number of the last."""
    values["a"][3], values["a"][-1] = np.nan, np.inf


BLOCK_SUM = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(*VECTORS, sized("infinities and a NaN", size=300, infinite=1)),
    random_case=random_vector,
    inputs=with_special_numbers(arrays("size", a="size"), infinite=_put_special_numbers),
    launches=enough_blocks("block_sum", "out", "a", "size", block=TPB),
    reference=gives(lambda a: summed(pieces(a, TPB))),
    budgets=(
        Budget(
            "barriers",
            lambda case, counters: counters.barriers,
            "A step needs one barrier after it. In a step nobody reads a cell that another thread "
            "writes, if those who add are chosen well.",
            "barriers, counted warp by warp",
        ),
        Budget(
            "global_load.bytes",
            lambda case, counters: 4 * case.sizes["size"],
            "Each number should come from global memory once; after that it is in the tile.",
            "bytes loaded from a",
        ),
        an_atomic_a_warp(lambda case: WARPS * blocks_to_cover(case.sizes["size"], TPB)),
        NO_FLOAT64,
    ),
    share=ONE_CELL_EACH,
)

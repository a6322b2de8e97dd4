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
    recognise,
    sized,
    with_special_numbers,
)
from gpu_course.puzzle.room import told
from gpu_course.puzzle.specification import Budget, KernelPuzzle, Values
from gpu_course.puzzle.warp_budgets import an_atomic_a_warp


def _put_special_numbers(values: Values) -> None:
    """A NaN in the first piece, an infinity as the last number of the last."""
    values["a"][3], values["a"][-1] = np.nan, np.inf


def _only(a: np.ndarray, places: slice) -> np.ndarray:
    """The sums of those cells of each piece that lie at some places of a full tile."""
    full = [np.pad(piece, (0, TPB - len(piece))) for piece in pieces(a, TPB)]
    return summed([piece[places] for piece in full])


BLOCK_SUM = KernelPuzzle(
    **told(__file__),
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
    diagnose=recognise(
        ("step-missing", lambda a: _only(a, slice(0, None, 2))),
        ("step-missing", lambda a: _only(a, slice(0, TPB // 2))),
        ("first-piece", lambda a: np.full_like(summed(pieces(a, TPB)), summed([a[:TPB]])[0])),
    ),
    share=ONE_CELL_EACH,
)

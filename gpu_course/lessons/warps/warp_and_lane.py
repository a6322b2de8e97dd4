"""Puzzle `warp_and_lane`: each thread says which warp it is in, and which lane it is."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    drawn_case,
    enough_blocks,
    gives,
    sized,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, KernelPuzzle, Values

TPB = 40  # no multiple of 32: each block has a warp that is not full


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    return {"size": case.sizes["size"]}


def _right(size: int) -> Values:
    thread = np.arange(size, dtype=np.int32) % TPB
    return {"warp": thread // 32, "lane": thread % 32}


WARP_AND_LANE = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=90),
        sized("one cell", size=1),
        sized("exactly four blocks", size=160),
        sized("one cell more than four blocks", size=161),
    ),
    random_case=drawn_case(size=(41, 400)),
    inputs=_inputs,
    launches=enough_blocks("warp_and_lane", "warp", "lane", "size", block=TPB),
    reference=gives(_right),
    share=ONE_CELL_EACH,
)

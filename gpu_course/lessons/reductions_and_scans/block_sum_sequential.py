"""Puzzle `block_sum_sequential`: the tree again, and no warp diverges."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.sums import NO_FLOAT64, TPB, WARPS, pieces, summed
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    blocks_to_cover,
    drawn_case,
    gives,
    sized,
    with_special_numbers,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Bonus,
    Budget,
    Case,
    KernelPuzzle,
    Launch,
    Values,
)
from gpu_course.puzzle.warp_budgets import READ_IN_ORDER, an_atomic_a_warp

SPAN = 2 * TPB
STEPS_OF_A_WARP = 5


def _blocks(case: Case) -> int:
    return blocks_to_cover(case.sizes["size"], SPAN)


def _put_special_numbers(values: Values) -> None:
    """A NaN in the first piece, an infinity as the last number of the last."""
    values["a"][3], values["a"][-1] = np.nan, np.inf


def _divergent(case: Case) -> int:
    """The steps of the last warp and the store, in each block; the two guards of the last piece."""
    return (STEPS_OF_A_WARP + 1) * _blocks(case) + 2


BLOCK_SUM_SEQUENTIAL = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=400),
        sized("one cell", size=1),
        sized("31 cells", size=31),
        sized("one cell more than threads", size=129),
        sized("exactly two blocks", size=512),
        sized("one cell more than two blocks", size=513),
        sized("700 large numbers", size=700, doublings=90),
        sized("infinities and a NaN", size=515, infinite=1),
    ),
    random_case=drawn_case(size=(260, 800)),
    inputs=with_special_numbers(arrays("size", a="size"), infinite=_put_special_numbers),
    launches=lambda case: (
        Launch("block_sum_sequential", _blocks(case), TPB, ("out", "a", "size")),
    ),
    reference=gives(lambda a: summed(pieces(a, SPAN))),
    budgets=(
        Budget(
            "divergent_branches",
            lambda case, counters: _divergent(case),
            "A warp goes through both sides of a branch on which its lanes disagree. Choose the "
            "threads that add so that they fill whole warps as long as there are 32 of them.",
            "divergent branches",
        ),
        Budget(
            "shared_load.conflicts",
            0,
            "Lanes that read different words of one bank are served one after the other. Which "
            "cells do neighbouring lanes read in the line below?",
            "bank conflicts in loads",
        ),
        Budget(
            "shared_store.conflicts",
            0,
            "Lanes that write different words of one bank are served one after the other. Which "
            "cells do neighbouring lanes write in the line below?",
            "bank conflicts in stores",
        ),
        an_atomic_a_warp(lambda case: WARPS * _blocks(case)),
        READ_IN_ORDER,
        NO_FLOAT64,
    ),
    share=ONE_CELL_EACH,
    bonus=Bonus(
        "barriers",
        lambda case: 2 * WARPS * _blocks(case),
    ),
)

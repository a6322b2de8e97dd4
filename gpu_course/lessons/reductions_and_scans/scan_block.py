"""Puzzle `scan_block`: the sums up to each number, block by block."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.scan_pieces import (
    WARP,
    barriers_of,
    running_in_tiles,
)
from gpu_course.lessons.reductions_and_scans.sums import AS_FEW_SHUFFLES, NO_FLOAT64
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    drawn_case,
    enough_blocks,
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
    Values,
)

TPB = 128
WARPS = TPB // WARP


def _put_special_numbers(values: Values) -> None:
    """An infinity in the third warp of the first piece and the first of the last, a NaN between."""
    values["a"][[70, 2 * TPB + 5, -1]] = np.inf
    values["a"][TPB + 40] = np.nan


def _waits_of_the_bonus(case: Case) -> int:
    return WARPS * -(-case.sizes["size"] // TPB)


SCAN_BLOCK = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=150),
        sized("one cell", size=1),
        sized("exactly two blocks", size=256),
        sized("one cell more than two blocks", size=257),
        sized("500 large numbers", size=500, doublings=100),
        sized("infinities and a NaN", size=300, infinite=1),
    ),
    random_case=drawn_case(size=(129, 700)),
    inputs=with_special_numbers(arrays("size", a="size"), infinite=_put_special_numbers),
    launches=enough_blocks("scan_block", "out", "a", "size", block=TPB),
    reference=gives(lambda a: running_in_tiles(a, TPB)),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: 4 * case.sizes["size"],
            "Each thread needs all numbers before its own, and only their sum. The threads can "
            "hand sums on; then each number comes from global memory once.",
            "bytes loaded from a",
        ),
        barriers_of(
            2,
            WARPS,
            "At every barrier all warps of the block wait for the slowest one. Within a warp no "
            "barrier is needed: let each warp scan its numbers by shuffles, and let the block meet "
            "only over the sums of the warps.",
        ),
        AS_FEW_SHUFFLES,
        NO_FLOAT64,
    ),
    share=ONE_CELL_EACH,
    bonus=Bonus(
        "barriers",
        _waits_of_the_bonus,
    ),
)

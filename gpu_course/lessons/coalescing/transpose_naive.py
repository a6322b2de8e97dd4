"""Puzzle `transpose_naive`: rows become columns, and one side pays."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.coalescing.pieces import LOADS_AND_STORES, one_sided_excess
from gpu_course.puzzle.builders import (
    arrays,
    blocks_to_cover,
    gives,
    sized,
    special,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Bonus,
    Budget,
    Case,
    KernelPuzzle,
    Launch,
    Share,
)

TILE = 32
THREAD_ROWS = 8
PER_THREAD = TILE // THREAD_ROWS


def _grid(case: Case) -> tuple[int, int]:
    return blocks_to_cover(case.sizes["cols"], TILE), blocks_to_cover(case.sizes["rows"], TILE)


def _one_side(case: Case) -> tuple[int, int]:
    """The excess where loads run along rows of a, and where stores run along rows of out."""
    rows, cols = case.sizes["rows"], case.sizes["cols"]
    return one_sided_excess(rows, cols), one_sided_excess(cols, rows)


def _random_case(rng: np.random.Generator) -> Case:
    rows, cols = (int(side) for side in rng.permutation(np.arange(20, 80))[:2])
    return sized("sizes drawn at random", rows=rows, cols=cols)


TRANSPOSE_NAIVE = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=32, cols=64),
        sized("one cell", rows=1, cols=1),
        sized("one row more than a square", rows=33, cols=32),
        sized("wider than tall", rows=45, cols=110),
        sized("taller than wide, large numbers", rows=70, cols=45, doublings=100),
        special("NaN and infinities", rows=35, cols=45),
    ),
    random_case=_random_case,
    inputs=arrays("rows", "cols", a="rows cols"),
    launches=lambda case: (
        Launch("transpose_naive", _grid(case), (TILE, THREAD_ROWS), ("out", "a", "rows", "cols")),
    ),
    reference=gives(lambda a: a.T.copy()),
    budgets=(
        Budget(
            LOADS_AND_STORES,
            lambda case, counters: max(_one_side(case)),
            "One side has to pay here, not both. Let x run along a row of a when you load, or "
            "along a row of out when you store: then one of the two needs no more sectors than it "
            "fills.",
            "excess sectors in loads and stores",
        ),
    ),
    share=Share("Each thread writes at most TILE // THREAD_ROWS cells.", PER_THREAD),
    bonus=Bonus(
        LOADS_AND_STORES,
        lambda case: min(_one_side(case)) // 2,
    ),
)

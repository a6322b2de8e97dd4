"""What the puzzles share that turn a matrix by squares."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import sized, special
from gpu_course.puzzle.specification import Budget, Case

TILE = 32

CASES = (
    sized("visible example", visible=True, rows=32, cols=64),
    sized("one cell", rows=1, cols=1),
    sized("one row more than a square", rows=33, cols=32),
    sized("wider than tall", rows=45, cols=110),
    sized("taller than wide, large numbers", rows=130, cols=45, doublings=100),
    special("NaN and infinities", rows=35, cols=45),
)


def random_matrix(rng: np.random.Generator) -> Case:
    rows, cols = (int(side) for side in rng.permutation(np.arange(20, 80))[:2])
    return sized("sizes drawn at random", rows=rows, cols=cols)


# A row that does not begin at a sector's start costs even the best answer a sector more.
IN_ORDER = (
    Budget(
        "global_load.excess_sectors",
        lambda case, counters: counters.global_load.excess_sectors,
        "The lanes of a warp have neighbouring x: let x run along a row of a when you load.",
        "excess sectors in loads",
    ),
    Budget(
        "global_store.excess_sectors",
        lambda case, counters: counters.global_store.excess_sectors,
        "The lanes of a warp have neighbouring x: let x run along a row of out when you store, and "
        "do the turning inside the tile.",
        "excess sectors in stores",
    ),
)

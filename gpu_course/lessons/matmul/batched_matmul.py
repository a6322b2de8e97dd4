"""Puzzle `batched_matmul`: the scores of attention, a matrix for each head."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.matmul.pieces import (
    ALL_IN_FLOAT32,
    LOADS_IN_ORDER,
    NO_ATOMICS,
    NO_CONFLICTS,
    ROUNDS,
    TILE,
    drawn_sides,
    product,
    put_special_numbers,
    sides,
    square_grid,
    tile_bytes,
)
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    blocks_to_cover,
    gives,
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

ARGUMENTS = ("out", "q", "keys", "m", "n", "k")


def _scores(q: np.ndarray, keys: np.ndarray) -> np.ndarray:
    return product(q, keys.transpose(0, 2, 1))


def _put_special_numbers(values: Values) -> None:
    """As `put_special_numbers` does; here a column of the right matrix is a row of keys."""
    turned = values["keys"].transpose(0, 2, 1)
    put_special_numbers("q", "keys")({"q": values["q"], "keys": turned})


def _grid(case: Case) -> tuple[int, int, int]:
    return (*square_grid(case), case.sizes["batch"])


BATCHED_MATMUL = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sides("visible example", 20, 40, 24, visible=True, batch=2),
        sides("one cell", 1, 1, 3, batch=1),
        sides("a cell more than whole tiles", 17, 33, 17, batch=2),
        sides("exactly one tile, large numbers", 16, 16, 32, batch=2, doublings=30),
        sides("a single query, as in decoding", 1, 40, 20, batch=4),
        sides("infinities, a NaN and zeros", 5, 18, 19, batch=1, infinite=1),
    ),
    random_case=drawn_sides((5, 20), (5, 33), (17, 25), batch=(2, 3)),
    inputs=with_special_numbers(
        arrays("m", "n", "k", q="batch m k", keys="batch n k"), infinite=_put_special_numbers
    ),
    # Queries and keys of 64 numbers, as attention's heads have; the heads are as many as it takes.
    large=lambda least_bytes: sides(
        "past L2", 128, 128, 64, batch=blocks_to_cover(least_bytes, 4 * 128 * (128 + 2 * 64))
    ),
    launches=lambda case: (Launch("batched_matmul", _grid(case), (TILE, TILE), ARGUMENTS),),
    reference=gives(_scores),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: case.sizes["batch"] * tile_bytes(case),
            "A query is wanted by every key of the block's square, and a key by every query. Each "
            "should come from global memory once for the block.",
            "bytes loaded from global memory",
        ),
        LOADS_IN_ORDER,
        NO_CONFLICTS[0],
        ROUNDS,
        NO_ATOMICS,
        ALL_IN_FLOAT32,
    ),
    share=ONE_CELL_EACH,
    bonus=Bonus(
        "shared_store.conflicts",
        lambda case: 0,
    ),
)

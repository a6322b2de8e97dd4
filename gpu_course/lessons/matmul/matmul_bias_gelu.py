"""Puzzle `matmul_bias_gelu`: a layer in one kernel."""

from __future__ import annotations

import math

import numpy as np

from gpu_course.lessons.matmul.pieces import (
    ALL_IN_FLOAT32,
    NO_ATOMICS,
    ROUNDS,
    TILE,
    cells_of,
    drawn_sides,
    large_square,
    put_special_numbers,
    sides,
    square_grid,
    tile_bytes,
)
from gpu_course.puzzle.builders import ONE_CELL_EACH, arrays, gives, with_special_numbers
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Bonus,
    Budget,
    Case,
    KernelPuzzle,
    Launch,
)

ARGUMENTS = ("out", "a", "w", "bias", "m", "n", "k")
RTOL, ATOL = 1e-5, 1e-5
WARPS = TILE * TILE // 32


def _gelu(v: np.ndarray) -> np.ndarray:
    return np.vectorize(lambda each: each / 2 * (1 + math.erf(each / math.sqrt(2))))(v)


def _product(a: np.ndarray, w: np.ndarray) -> np.ndarray:
    return a.astype(np.float64) @ w.astype(np.float64)


def _layer(a: np.ndarray, w: np.ndarray, bias: np.ndarray) -> np.ndarray:
    return np.asarray(_gelu(_product(a, w) + bias), dtype=np.float32)


def _bytes(case: Case) -> int:
    """Those of the tiles, and the bias once for every warp of a block.

    A sum that begins with the bias takes it in warps below the last row as well.
    """
    return tile_bytes(case) + 4 * case.sizes["n"] * WARPS * square_grid(case)[1]


MATMUL_BIAS_GELU = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sides("visible example", 20, 40, 24, visible=True, doublings=-5),
        sides("one cell", 1, 1, 1, doublings=0),
        sides("a cell more than whole tiles", 17, 33, 17, doublings=-5),
        sides("exactly one square", 16, 16, 32, doublings=-5),
        sides("wide and shallow", 9, 70, 5, doublings=-4),
        sides("far from 0", 5, 18, 3, doublings=4),
        sides("infinities, a NaN and zeros", 5, 18, 19, doublings=-5, infinite=1),
    ),
    random_case=drawn_sides((5, 30), (31, 50), (5, 30), doublings=(-6, -4)),
    inputs=with_special_numbers(
        arrays("m", "n", "k", a="m k", w="k n", bias="n"), infinite=put_special_numbers("a", "w")
    ),
    large=large_square,
    launches=lambda case: (Launch("matmul_bias_gelu", square_grid(case), (TILE, TILE), ARGUMENTS),),
    reference=gives(_layer),
    tolerance=(RTOL, ATOL),
    budgets=(
        Budget(
            "global_store.bytes",
            lambda case, counters: 4 * cells_of(case),
            "Each store of a step that is not the last goes to memory for nothing: the next step "
            "wants the number in this very thread.",
            "bytes stored",
        ),
        Budget(
            "global_load.bytes",
            lambda case, counters: _bytes(case),
            "The numbers of a and w come through the tiles, and a cell takes one number of the "
            "bias. What else does a thread fetch?",
            "bytes loaded from global memory",
        ),
        ROUNDS,
        NO_ATOMICS,
        ALL_IN_FLOAT32,
    ),
    share=ONE_CELL_EACH,
    bonus=Bonus(
        "global_load.bytes",
        lambda case: tile_bytes(case) + 4 * case.sizes["n"] * square_grid(case)[1],
    ),
)

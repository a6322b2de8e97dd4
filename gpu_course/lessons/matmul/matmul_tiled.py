"""Puzzle `matmul_tiled`: a matrix product through tiles, with ragged edges."""

from __future__ import annotations

from gpu_course.lessons.matmul.pieces import (
    ALL_IN_FLOAT32,
    ARGUMENTS,
    LOADS_IN_ORDER,
    NO_ATOMICS,
    NO_CONFLICTS,
    ROUNDS,
    TILE,
    drawn_sides,
    large_square,
    product,
    put_special_numbers,
    sides,
    square_grid,
    tile_bytes,
)
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    gives,
    with_special_numbers,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, KernelPuzzle, Launch

MATMUL_TILED = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sides("visible example", 20, 40, 24, visible=True),
        sides("one cell", 1, 1, 3),
        sides("a cell more than whole tiles", 17, 33, 17),
        sides("exactly two tiles, large numbers", 16, 16, 32, doublings=30),
        sides("tall and deep", 45, 5, 60),
        sides("infinities, a NaN and zeros", 5, 18, 19, infinite=1),
    ),
    random_case=drawn_sides((5, 30), (5, 40), (5, 25)),
    inputs=with_special_numbers(
        arrays("m", "n", "k", a="m k", b="k n"), infinite=put_special_numbers("a", "b")
    ),
    large=large_square,
    launches=lambda case: (Launch("matmul_tiled", square_grid(case), (TILE, TILE), ARGUMENTS),),
    reference=gives(lambda a, b: product(a, b)),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: tile_bytes(case),
            "A row of a is wanted by every column of the block's square, and a column of b by "
            "every row. Each should come from global memory once for the block, and the rest is "
            "what tiles are for.",
            "bytes loaded from global memory",
        ),
        LOADS_IN_ORDER,
        *NO_CONFLICTS,
        ROUNDS,
        NO_ATOMICS,
        ALL_IN_FLOAT32,
    ),
    share=ONE_CELL_EACH,
)

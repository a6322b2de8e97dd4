"""Puzzle `matmul_naive`: a matrix product, a thread for each result."""

from __future__ import annotations

from gpu_course.lessons.matmul.pieces import (
    ALL_IN_FLOAT32,
    ARGUMENTS,
    LOADS_IN_ORDER,
    NO_ATOMICS,
    STORES_IN_ORDER,
    cells_of,
    drawn_sides,
    large_square,
    product,
    put_special_numbers,
    sides,
)
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    blocks_to_cover,
    gives,
    with_special_numbers,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, Case, KernelPuzzle, Launch

BLOCK = (32, 8)


def _grid(case: Case) -> tuple[int, int]:
    """Blocks for every cell, whichever side of out runs along x."""
    longer = max(case.sizes["m"], case.sizes["n"])
    return blocks_to_cover(longer, BLOCK[0]), blocks_to_cover(longer, BLOCK[1])


MATMUL_NAIVE = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sides("visible example", 6, 40, 5, visible=True),
        sides("one cell", 1, 1, 3),
        sides("taller than wide", 45, 10, 7),
        sides("whole blocks, large numbers", 16, 64, 8, doublings=30),
        sides("a single column", 33, 1, 9),
        sides("infinities, a NaN and zeros", 6, 40, 5, infinite=1),
    ),
    random_case=drawn_sides((5, 40), (5, 70), (2, 12)),
    inputs=with_special_numbers(
        arrays("m", "n", "k", a="m k", b="k n"), infinite=put_special_numbers("a", "b")
    ),
    large=large_square,
    launches=lambda case: (Launch("matmul_naive", _grid(case), BLOCK, ARGUMENTS),),
    reference=gives(lambda a, b: product(a, b)),
    budgets=(
        Budget(
            "global_store.bytes",
            lambda case, counters: 4 * cells_of(case),
            "Each step of the sum goes to global memory and comes back from there. Where does a "
            "thread keep a number that only it needs?",
            "bytes stored",
        ),
        LOADS_IN_ORDER,
        STORES_IN_ORDER,
        NO_ATOMICS,
        ALL_IN_FLOAT32,
    ),
    share=ONE_CELL_EACH,
)

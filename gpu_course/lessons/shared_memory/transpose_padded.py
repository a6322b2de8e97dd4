"""Puzzle `transpose_padded`: rows become columns, and no lane waits."""

from __future__ import annotations

from gpu_course.lessons.shared_memory.squares import CASES, IN_ORDER, TILE, random_matrix
from gpu_course.puzzle.builders import arrays, blocks_to_cover, gives
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Budget,
    Case,
    KernelPuzzle,
    Launch,
    Share,
)

THREAD_ROWS = 8


def _grid(case: Case) -> tuple[int, int]:
    """A block for each square, though it has fewer threads than the square has cells."""
    return blocks_to_cover(case.sizes["cols"], TILE), blocks_to_cover(case.sizes["rows"], TILE)


TRANSPOSE_PADDED = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=CASES,
    random_case=random_matrix,
    inputs=arrays("rows", "cols", a="rows cols"),
    launches=lambda case: (
        Launch("transpose_padded", _grid(case), (TILE, THREAD_ROWS), ("out", "a", "rows", "cols")),
    ),
    reference=gives(lambda a: a.T.copy()),
    budgets=(
        *IN_ORDER,
        Budget(
            "shared_load.conflicts",
            0,
            "Lanes that read different words of one bank are served one after the other. A column "
            "of a tile 32 cells wide lies in one bank: make its rows begin in different banks.",
            "bank conflicts in loads",
        ),
        Budget(
            "shared_store.conflicts",
            0,
            "Lanes that write different words of one bank are served one after the other. A column "
            "of a tile 32 cells wide lies in one bank: make its rows begin in different banks.",
            "bank conflicts in stores",
        ),
    ),
    share=Share("Each thread carries four cells of the square.", TILE // THREAD_ROWS),
)

"""Puzzle `transpose_padded`: rows become columns, and no lane waits."""

from __future__ import annotations

from gpu_course.lessons.shared_memory.pieces import OUTSIDE_THE_TILE
from gpu_course.lessons.shared_memory.squares import CASES, IN_ORDER, TILE, random_matrix
from gpu_course.puzzle.builders import arrays, blocks_to_cover, gives
from gpu_course.puzzle.specification import (
    Budget,
    Case,
    Debrief,
    KernelPuzzle,
    Launch,
    Mistake,
    Share,
)

THREAD_ROWS = 8


def _grid(case: Case) -> tuple[int, int]:
    """A block for each square, though it has fewer threads than the square has cells."""
    return blocks_to_cover(case.sizes["cols"], TILE), blocks_to_cover(case.sizes["rows"], TILE)


DEBRIEF = Debrief(
    shows=("global_load.sectors", "shared_load.conflicts", "shared_store.conflicts"),
    why=(
        "The 32 cells that a warp wants at once lie in 32 different banks, along rows and down "
        "columns alike. So each request to the tile is served in one pass."
    ),
    alternative=(
        "One unused place at the end of each row moves the next row on by a bank. Storing the "
        "cells of each row in a different order, by the exclusive or of row and column, needs no "
        "extra place."
    ),
)

TRANSPOSE_PADDED = KernelPuzzle(
    name="04_shared_memory/transpose_padded",
    title="rows become columns, and no lane waits",
    difficulty="medium",
    minutes=10,
    debrief=DEBRIEF,
    statement=(
        "out[col, row] = a[row, col] again, in order on both sides, and this time without a "
        "single bank conflict in the tile. The block is smaller, TILE by THREAD_ROWS. Each thread "
        "carries four cells of the square. a may hold NaN and infinities as well."
    ),
    parameters={"transpose_padded": ("out", "a", "rows", "cols")},
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
    diagnoses={
        **OUTSIDE_THE_TILE,
        "race": (
            "A thread takes from the tile what another thread brings, and nothing makes it wait "
            "for that. The whole square has to be in the tile before any of it is taken out."
        ),
        "uninitialised-read": (
            "A place of the tile was taken out, and no thread had filled it. Each thread carries "
            "four cells, and all four have to be brought, by all threads, before the first is "
            "taken out."
        ),
        "barrier-divergence": "Keep the barrier out of every guard: it waits for the whole block.",
    },
    share=Share("Each thread carries four cells of the square.", TILE // THREAD_ROWS),
    hints=(
        (
            "Begin with transpose_tiled and let each thread do four times what it did there: one "
            "loop before the barrier and one after it."
        ),
        (
            "Both loops run over y from threadIdx.y to TILE in steps of THREAD_ROWS. Which line "
            "has conflicts then: the one in which x runs along a row of the tile, or the other?"
        ),
        (
            "With rows of 32 cells, all rows begin in bank 0, and so a column lies in one bank. "
            "Make the rows one cell longer, and each begins one bank further on. The longer side "
            "needs a name of its own at the top of the file."
        ),
    ),
    mistakes=(
        Mistake("no_barrier", "hazard", "race"),
        Mistake("one_loop_for_both", "hazard", "race"),
        Mistake("one_cell_per_thread", "hazard", "uninitialised-read"),
        Mistake("no_tile_at_all", "over-budget", "over-budget"),
        Mistake("not_padded", "over-budget", "over-budget"),
        Mistake("padded_the_wrong_side", "over-budget", "over-budget"),
        Mistake("turned_on_the_way_in", "over-budget", "over-budget"),
        Mistake("half_of_the_threads", "over-budget", "not-shared"),
    ),
    constants={"TILE": TILE, "THREAD_ROWS": THREAD_ROWS},
    source=(
        "after Mark Harris, 'An Efficient Matrix Transpose in CUDA C/C++', NVIDIA Developer Blog, "
        "2013, https://developer.nvidia.com/blog/efficient-matrix-transpose-cuda-cc/"
    ),
)

"""Puzzle `transpose_naive`: rows become columns, and one side pays."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.coalescing.pieces import LOADS_AND_STORES, one_sided_excess
from gpu_course.puzzle.builders import (
    arrays,
    blocks_to_cover,
    gives,
    recognise,
    sized,
    special,
    where_written,
)
from gpu_course.puzzle.specification import (
    Bonus,
    Budget,
    Case,
    Debrief,
    KernelPuzzle,
    Launch,
    Mistake,
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


DEBRIEF = Debrief(
    shows=("global_load.sectors", "global_store.sectors", LOADS_AND_STORES),
    why=(
        "A row of a is a column of out. While each lane writes what it has read itself, a warp "
        "that keeps to one row on one side has a different row for each lane on the other: 32 "
        "lanes, 32 sectors."
    ),
    alternative=(
        "Which side pays makes no difference to the count. It may to a card: a thread waits for "
        "its loads and not for its stores, and its caches treat the two differently."
    ),
    bonus=Bonus(
        goal="A warp need not be a piece of one row. Halve the excess, still with no tile.",
        counter=LOADS_AND_STORES,
        limit=lambda case: min(_one_side(case)) // 2,
    ),
)

TRANSPOSE_NAIVE = KernelPuzzle(
    name="03_coalescing/transpose_naive",
    title="rows become columns, and one side pays",
    difficulty="medium",
    minutes=10,
    debrief=DEBRIEF,
    statement=(
        "out[col, row] = a[row, col]. A block of TILE by THREAD_ROWS threads has a square of TILE "
        "by TILE cells. Each thread writes at most TILE // THREAD_ROWS cells, and what it writes "
        "it has read itself. Let one side run in order, whichever you like; the other will pay. a "
        "may hold NaN and infinities as well."
    ),
    parameters={"transpose_naive": ("out", "a", "rows", "cols")},
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
    diagnose=recognise(
        (
            "one-each",
            lambda a: where_written(a, (np.arange(a.shape[0]) % TILE < THREAD_ROWS)[:, None]).T,
        ),
    ),
    diagnoses={
        "transposed": (
            "The numbers stand in out in the order they had in a; only the shape is new. The cell "
            "at (row, col) of a belongs at (col, row) of out."
        ),
        "one-each": (
            "Three quarters of each square are missing. A block has THREAD_ROWS rows of threads "
            "for TILE rows of cells: where is a thread's second cell?"
        ),
        "tail-unwritten": (
            "The last rows or columns of out were never written. Which of your indices is compared "
            "with rows, and which with cols?"
        ),
        "race": (
            "Two threads write one cell. THREAD_ROWS threads have one row each below each other: "
            "how far on is a thread's own second row, and how far apart do the squares begin?"
        ),
        "out-of-bounds": (
            "At the border some cells of a square do not exist. Each of a thread's cells needs a "
            "guard: which index is compared with which side?"
        ),
    },
    share=Share("Each thread writes at most TILE // THREAD_ROWS cells.", PER_THREAD),
    hints=(
        (
            "Begin with a copy: x along a row, y down, four rows for each thread. Then exchange "
            "the two indices on one side."
        ),
        (
            "The rows of a thread are THREAD_ROWS apart, so that the THREAD_ROWS rows of threads "
            "are neighbours in each round."
        ),
        (
            "Row and column come from the number of the block, times TILE, and the thread's own. "
            "Guard row and column of each cell before you touch it. The budget allows 28 excess "
            "sectors for a warp that loads 32 cells of a row and stores them down a column."
        ),
    ),
    mistakes=(
        Mistake("along_the_diagonals", "over-budget", "over-budget"),
        Mistake("not_transposed", "wrong-result", "transposed"),
        Mistake("indices_not_exchanged", "hazard", "out-of-bounds"),
        Mistake("one_cell_for_each_thread", "wrong-result", "one-each"),
        Mistake("steps_of_one_row", "hazard", "race"),
        Mistake("guards_the_first_row_alone", "hazard", "out-of-bounds"),
        Mistake("guards_exchanged", "wrong-result", "tail-unwritten"),
        Mistake("one_warp_carries_the_square", "over-budget", "not-shared"),
    ),
    constants={"TILE": TILE, "THREAD_ROWS": THREAD_ROWS, "PER_THREAD": PER_THREAD},
    source=(
        "after Mark Harris, 'An Efficient Matrix Transpose in CUDA C/C++', NVIDIA Developer Blog, "
        "2013, https://developer.nvidia.com/blog/efficient-matrix-transpose-cuda-cc/"
    ),
)

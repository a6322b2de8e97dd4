"""Puzzle `box_blur_2d`: the mean of a neighbourhood."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.shared_memory.pieces import OUTSIDE_THE_TILE, WARP, clamped_bytes
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    blocks_to_cover,
    drawn,
    enough_blocks,
    gives,
    recognise,
    sized,
    special,
)
from gpu_course.puzzle.specification import Bonus, Budget, Case, Debrief, KernelPuzzle, Mistake

TILE_X, TILE_Y = 16, 8


def _blur_reads(case: Case) -> int:
    """Sums of three along the rows first, for the rows that are wanted, then down the columns."""
    rows, width = case.sizes["rows"], blocks_to_cover(case.sizes["cols"], 16)
    heights = [min(8, rows - top) for top in range(0, rows, 8)]
    half = [blocks_to_cover(height + 2, 2) + blocks_to_cover(height, 2) for height in heights]
    return width * 3 * sum(half)


def _box(a: np.ndarray, outside: str) -> np.ndarray:
    """The sum of each cell's 3 by 3 neighbourhood; `outside` is a mode of np.pad."""
    framed = np.pad(a, 1, mode=outside)  # type: ignore[call-overload]
    rows, cols = a.shape
    shifted = [framed[y : y + rows, x : x + cols] for y in range(3) for x in range(3)]
    return np.asarray(np.sum(shifted, axis=0, dtype=np.float32))


def _ninth(total: np.ndarray) -> np.ndarray:
    return (total / np.float64(9)).astype(np.float32)


def _mean_of_inside(a: np.ndarray) -> np.ndarray:
    total, cells = _box(a, "constant"), _box(np.ones_like(a), "constant")
    return (total / cells.astype(np.float64)).astype(np.float32)


def _cells_with_frame(case: Case) -> int:
    def along(side: int, tile: int) -> int:
        return sum(min(at + tile + 1, side) - max(at - 1, 0) for at in range(0, side, tile))

    return along(case.sizes["rows"], TILE_Y) * along(case.sizes["cols"], TILE_X)


def _blocks(case: Case) -> tuple[int, int]:
    """How many blocks there are, and the warps of each."""
    across = blocks_to_cover(case.sizes["cols"], TILE_X)
    return across * blocks_to_cover(case.sizes["rows"], TILE_Y), TILE_X * TILE_Y // WARP


DEBRIEF = Debrief(
    shows=("global_load.bytes", "shared_load.requests", "barriers"),
    why=(
        "With its frame the tile has more places than the block has threads, so some threads bring "
        "several cells, whichever thread computes which cell later. A cell outside the picture "
        "adds nothing to a sum, so it may be a zero in the tile."
    ),
    alternative=(
        "Loop over the tile by one flat number, or by row and column with two strides: both are "
        "right, and the second finds its places without a division."
    ),
    bonus=Bonus(
        goal="Neighbouring boxes have cells in common: read the tile less often.",
        counter="shared_load.requests",
        limit=_blur_reads,
    ),
)

BOX_BLUR_2D = KernelPuzzle(
    name="04_shared_memory/box_blur_2d",
    title="the mean of a neighbourhood",
    difficulty="hard",
    minutes=18,
    debrief=DEBRIEF,
    statement=(
        "out[row, col] is the sum of the 3 by 3 cells around a[row, col], divided by 9; cells "
        "outside the picture count as 0. A block is TILE_X wide and TILE_Y high, and each thread "
        "writes at most one cell. The tile has a frame one cell wide, corners included: more "
        "places than the block has threads. Load every cell that a block needs once. NaN and "
        "infinities count as in any sum."
    ),
    parameters={"box_blur_2d": ("out", "a", "rows", "cols")},
    cases=(
        sized("visible example", visible=True, rows=10, cols=20),
        sized("one cell", rows=1, cols=1),
        sized("whole blocks only", rows=16, cols=32),
        sized("taller than wide, large numbers", rows=37, cols=17, doublings=100),
        sized("wider than tall", rows=9, cols=50),
        special("NaN and infinities", rows=11, cols=19),
    ),
    random_case=drawn(rows=(5, 30), cols=(17, 50)),
    inputs=arrays("rows", "cols", a="rows cols"),
    launches=enough_blocks("box_blur_2d", "out", "a", "rows", "cols", block=(TILE_X, TILE_Y)),
    reference=gives(lambda a: _ninth(_box(a, "constant"))),
    tolerance=(1e-6, 1e-6),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: 4 * _cells_with_frame(case) + clamped_bytes(*_blocks(case)),
            "A block needs the cells of its tile and the frame around it, as far as they lie in "
            "the picture; whatever is loaded beyond that could come from the tile.",
            "bytes loaded from a",
        ),
    ),
    diagnose=recognise(
        ("border-repeated", lambda a: _ninth(_box(a, "edge"))),
        ("mean-of-inside", lambda a: _mean_of_inside(a)),
    ),
    diagnoses={
        **OUTSIDE_THE_TILE,
        "race": (
            "A thread adds up cells that other threads bring, and nothing makes it wait for them. "
            "What has to stand between filling the tile and using it?"
        ),
        "barrier-divergence": (
            "The barrier waits for the whole block. Some threads fill one place more than others "
            "and go round the loop once more, and some have no cell of the picture. Which line do "
            "all threads reach equally often?"
        ),
        "uninitialised-read": (
            "Some places of the tile were used, and no thread had filled them. The tile has more "
            "places than the block has threads, and the frame has corners: who fills them?"
        ),
        "out-of-bounds": (
            "An index lies outside its array. For the tile: rows come first, there are SPAN_Y of "
            "them, and each is SPAN_X long. For a: the frame of a block at the border lies "
            "outside."
        ),
        "border-repeated": (
            "At the border you count the outermost cells again. Cells outside the picture count as "
            "0 here."
        ),
        "mean-of-inside": (
            "At the border you divide by the cells that exist. Divide by 9 everywhere: the missing "
            "ones count as 0."
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "Number the places of the tile from 0, row by row, and the threads of the block as "
            "well. Thread n fills place n, and then?"
        ),
        (
            "A loop over places that begins at the thread's number in the block and steps by the "
            "number of threads fills them all. Division by SPAN_X gives a place's row in the "
            "tile, the remainder its column."
        ),
        (
            "From the place in the tile to the cell of the picture: add the block's first row or "
            "column and take away 1 for the frame; a cell outside becomes 0. Then one barrier, "
            "then two short loops over tile[y .., x ..]."
        ),
    ),
    mistakes=(
        Mistake("no_barrier", "hazard", "race"),
        Mistake("barrier_in_the_loop", "hazard", "barrier-divergence"),
        Mistake("no_corners", "hazard", "uninitialised-read"),
        Mistake("one_load_per_thread", "hazard", "uninitialised-read"),
        Mistake("wrong_row_length", "hazard", "out-of-bounds"),
        Mistake("swapped_in_the_tile", "hazard", "out-of-bounds"),
        Mistake("repeated_the_border", "wrong-result", "border-repeated"),
        Mistake("mean_of_those_inside", "wrong-result", "mean-of-inside"),
        Mistake("no_tile_at_all", "over-budget", "over-budget"),
        Mistake("one_row_of_threads_fills_the_tile", "over-budget", "not-shared"),
    ),
    constants={"TILE_X": TILE_X, "TILE_Y": TILE_Y, "SPAN_X": TILE_X + 2, "SPAN_Y": TILE_Y + 2},
)

"""Puzzle `transpose_tiled`: rows become columns."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.shared_memory.pieces import OUTSIDE_THE_TILE
from gpu_course.lessons.shared_memory.squares import CASES, IN_ORDER, TILE, random_matrix
from gpu_course.puzzle.builders import ONE_CELL_EACH, arrays, enough_blocks, gives, recognise
from gpu_course.puzzle.specification import Debrief, KernelPuzzle, Mistake, Values


def _by_squares(inputs: Values, *, moved: bool) -> dict[str, np.ndarray]:
    """Squares moved and not turned, or turned and not moved."""
    a = inputs["a"]
    rows, cols = a.shape
    out = np.full((cols, rows), np.nan, np.float32)
    for top in range(0, rows, TILE):
        for left in range(0, cols, TILE):
            square = a[top : top + TILE, left : left + TILE]
            corner = (left, top) if moved else (top, left)
            place = out[corner[0] : corner[0] + TILE, corner[1] : corner[1] + TILE]
            turned = square if moved else square.T
            height, width = (min(n) for n in zip(place.shape, turned.shape, strict=True))
            place[:height, :width] = turned[:height, :width]
    return {"out": out}


DEBRIEF = Debrief(
    shows=(
        "global_load.sectors",
        "global_store.sectors",
        "shared_load.wavefronts",
        "shared_store.wavefronts",
    ),
    why=(
        "A square is loaded along the rows of a and stored along the rows of out, so both run in "
        "order in global memory. The turning happens in the tile, where order costs no sectors."
    ),
    alternative=(
        "Turn on the way into the tile or on the way out: global memory sees no difference. In a "
        "tile 32 wide, a warp that goes down a column takes 32 passes for one request. The lesson "
        "comes to the reason next, and `transpose_padded` asks for a tile without them."
    ),
)

TRANSPOSE_TILED = KernelPuzzle(
    name="04_shared_memory/transpose_tiled",
    title="rows become columns",
    difficulty="medium",
    minutes=10,
    debrief=DEBRIEF,
    statement=(
        "out[col, row] = a[row, col]. A block of TILE by TILE threads takes a square of a and "
        "puts it down as a square of out, of which each thread writes at most one cell. Loads and "
        "stores of global memory must both run along rows; the turning happens in shared memory. "
        "a may hold NaN and infinities as well."
    ),
    parameters={"transpose_tiled": ("out", "a", "rows", "cols")},
    cases=CASES,
    random_case=random_matrix,
    inputs=arrays("rows", "cols", a="rows cols"),
    launches=enough_blocks("transpose_tiled", "out", "a", "rows", "cols", block=(TILE, TILE)),
    reference=gives(lambda a: a.T.copy()),
    budgets=IN_ORDER,
    diagnose=recognise(
        ("not-turned", lambda inputs: _by_squares(inputs, moved=True)),
        ("not-moved", lambda inputs: _by_squares(inputs, moved=False)),
    ),
    diagnoses={
        **OUTSIDE_THE_TILE,
        "race": (
            "A thread takes from the tile what another thread brings, and nothing makes it wait "
            "for that. What belongs between filling the tile and emptying it?"
        ),
        "barrier-divergence": (
            "At the border of the matrix some threads have no cell to load, but the barrier waits "
            "for them too. Keep it out of both guards."
        ),
        "out-of-bounds": (
            "A square that sticks out of a on the right sticks out of out at the bottom. Loading "
            "and storing need two different guards: which index is compared with which side?"
        ),
        "uninitialised-read": (
            "A place of the tile was taken out, and no thread had filled it. At the border the "
            "square is not full: the guard of the store has to match what was loaded."
        ),
        "not-turned": (
            "The squares stand where they should, but inside each one nothing is turned: take the "
            "tile's indices the other way round when you read it, or when you fill it, not both."
        ),
        "not-moved": (
            "Each square is turned, but stands in its old place: the block at column `left` and "
            "row `top` of a belongs at row `left` and column `top` of out."
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "Two halves: bring a square of a into the tile, put the tile down in out. In both, x "
            "should run along a row of global memory."
        ),
        (
            "The square whose corner is (top, left) in a has its corner at (left, top) in out. "
            "Within it, the thread at (y, x) writes row y and column x of the new square; where in "
            "the tile does that number lie?"
        ),
        (
            "Load with row from top and y, column from left and x. Store with row from left and y, "
            "column from top and x, and take the tile at [x, y]. Each half has a guard of its own, "
            "and the barrier stands between them."
        ),
    ),
    mistakes=(
        Mistake("no_barrier", "hazard", "race"),
        Mistake("barrier_behind_the_guard", "hazard", "barrier-divergence"),
        Mistake("guard_of_the_load", "hazard", "out-of-bounds"),
        Mistake("squares_not_turned", "wrong-result", "not-turned"),
        Mistake("squares_not_moved", "wrong-result", "not-moved"),
        Mistake("no_tile_at_all", "over-budget", "over-budget"),
        Mistake("stored_down_the_columns", "over-budget", "over-budget"),
        Mistake("loaded_down_the_columns", "over-budget", "over-budget"),
        Mistake("one_warp_does_it_all", "over-budget", "not-shared"),
    ),
    constants={"TILE": TILE},
    source=(
        "after Mark Harris, 'An Efficient Matrix Transpose in CUDA C/C++', NVIDIA Developer Blog, "
        "2013, https://developer.nvidia.com/blog/efficient-matrix-transpose-cuda-cc/"
    ),
)

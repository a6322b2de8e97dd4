"""Puzzles of lesson 04 that turn a matrix: transpose_tiled, transpose_padded."""

from __future__ import annotations

import numpy as np

from gpu_course.catalog.builders import (
    ONE_CELL_EACH,
    blocks_to_cover,
    eighths,
    recognise,
    sized,
)
from gpu_course.catalog.shared_memory import debriefs
from gpu_course.catalog.shared_memory.pieces import OUTSIDE_THE_TILE
from gpu_course.catalog.specification import (
    Budget,
    Case,
    KernelPuzzle,
    Launch,
    Mistake,
    Share,
    Values,
)

TILE = 32
THREAD_ROWS = 8

_CASES = (
    sized("visible example", visible=True, rows=32, cols=64),
    sized("one cell", rows=1, cols=1),
    sized("one row more than a square", rows=33, cols=32),
    sized("wider than tall", rows=45, cols=110),
    sized("taller than wide, large numbers", rows=130, cols=45, doublings=100),
)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    rows, cols = case.sizes["rows"], case.sizes["cols"]
    return {"a": eighths(rng, (rows, cols), case), "rows": rows, "cols": cols}


def _outputs(inputs: Values, case: Case) -> dict[str, np.ndarray]:
    return {"out": np.zeros((case.sizes["cols"], case.sizes["rows"]), np.float32)}


def _random_case(rng: np.random.Generator) -> Case:
    rows, cols = (int(side) for side in rng.permutation(np.arange(20, 80))[:2])
    return sized("sizes drawn at random", rows=rows, cols=cols)


def _launch(function: str, case: Case, thread_rows: int) -> tuple[Launch, ...]:
    sides = (case.sizes["cols"], case.sizes["rows"])
    grid = (blocks_to_cover(sides[0], TILE), blocks_to_cover(sides[1], TILE))
    return (Launch(function, grid, (TILE, thread_rows), ("out", "a", "rows", "cols")),)


# A row that does not begin at a sector's start costs even the best answer a sector more.
_IN_ORDER = (
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

TRANSPOSE_TILED = KernelPuzzle(
    name="04_shared_memory/transpose_tiled",
    title="rows become columns",
    difficulty="medium",
    minutes=10,
    debrief=debriefs.TRANSPOSE_TILED,
    statement=(
        "out[col, row] = a[row, col]. A block of TILE by TILE threads takes a square of a and "
        "puts it down as a square of out, of which each thread writes at most one cell. Loads and "
        "stores of global memory must both run along rows; the turning happens in shared memory."
    ),
    functions=("transpose_tiled",),
    parameters={"transpose_tiled": ("out", "a", "rows", "cols")},
    cases=_CASES,
    random_case=_random_case,
    inputs=_inputs,
    outputs=_outputs,
    launches=lambda case: _launch("transpose_tiled", case, TILE),
    reference=lambda inputs, case: {"out": inputs["a"].T.copy()},
    budgets=_IN_ORDER,
    diagnose=recognise(
        ("not-turned", lambda inputs, case: _by_squares(inputs, moved=True)),
        ("not-moved", lambda inputs, case: _by_squares(inputs, moved=False)),
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
            "tile's indices the other way round when you read it."
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


TRANSPOSE_PADDED = KernelPuzzle(
    name="04_shared_memory/transpose_padded",
    title="rows become columns, and no lane waits",
    difficulty="medium",
    minutes=10,
    debrief=debriefs.TRANSPOSE_PADDED,
    statement=(
        "out[col, row] = a[row, col] again, in order on both sides, and this time without a single "
        "bank conflict in the tile. The block is smaller, TILE by THREAD_ROWS. Each thread carries "
        "four cells of the square."
    ),
    functions=("transpose_padded",),
    parameters={"transpose_padded": ("out", "a", "rows", "cols")},
    cases=_CASES,
    random_case=_random_case,
    inputs=_inputs,
    outputs=_outputs,
    launches=lambda case: _launch("transpose_padded", case, THREAD_ROWS),
    reference=lambda inputs, case: {"out": inputs["a"].T.copy()},
    budgets=(
        *_IN_ORDER,
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

"""Puzzle `box_blur_2d`: the mean of a neighbourhood."""

from __future__ import annotations

import math

import numpy as np

from gpu_course.lessons.shared_memory.pieces import WARP, beyond, clamped_bytes
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    blocks_to_cover,
    drawn_case,
    enough_blocks,
    gives,
    sized,
    special,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Bonus, Budget, Case, KernelPuzzle

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


def _bytes(case: Case) -> int:
    sides = ((case.sizes["rows"], TILE_Y), (case.sizes["cols"], TILE_X))
    cells = math.prod(
        sum(min(at + tile + 1, side) - max(at - 1, 0) for at in range(0, side, tile))
        for side, tile in sides
    )
    blocks = math.prod(blocks_to_cover(side, tile) for side, tile in sides)
    amid = math.prod(
        blocks_to_cover(side, tile) - beyond(side, tile, before=1, after=1) for side, tile in sides
    )
    return 4 * cells + clamped_bytes(blocks - amid, TILE_X * TILE_Y // WARP)


BOX_BLUR_2D = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=10, cols=20),
        sized("one cell", rows=1, cols=1),
        sized("whole blocks only", rows=16, cols=32),
        sized("taller than wide, large numbers", rows=37, cols=17, doublings=100),
        sized("wider than tall", rows=9, cols=50),
        special("NaN and infinities", rows=11, cols=19),
    ),
    random_case=drawn_case(rows=(5, 30), cols=(17, 50)),
    inputs=arrays("rows", "cols", a="rows cols"),
    launches=enough_blocks("box_blur_2d", "out", "a", "rows", "cols", block=(TILE_X, TILE_Y)),
    reference=gives(lambda a: _ninth(_box(a, "constant"))),
    tolerance=(1e-6, 1e-6),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: _bytes(case),
            "A block needs the cells of its tile and the frame around it, as far as they lie in "
            "the picture; whatever is loaded beyond that could come from the tile.",
            "bytes loaded from a",
        ),
    ),
    share=ONE_CELL_EACH,
    bonus=Bonus(
        "shared_load.requests",
        _blur_reads,
    ),
)

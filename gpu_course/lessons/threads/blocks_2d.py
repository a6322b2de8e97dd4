"""Puzzle `blocks_2d`: a bias for every column."""

from __future__ import annotations

import numpy as np

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
    where_written,
)
from gpu_course.puzzle.room import told
from gpu_course.puzzle.specification import KernelPuzzle


def _bias_by_row(a: np.ndarray, bias: np.ndarray, rows: int, cols: int) -> np.ndarray:
    # With more rows than features this idea reads outside bias, and never comes to a result.
    used = bias[:rows] if rows <= cols else np.full(rows, np.nan, np.float32)
    return a + used[:, None]


def _swapped_grid(
    a: np.ndarray, bias: np.ndarray, rows: int, cols: int, block_x: int, block_y: int
) -> np.ndarray:
    row, col = np.indices(a.shape)
    in_rows = row < blocks_to_cover(cols, block_x) * block_x
    return where_written(a + bias, in_rows & (col < blocks_to_cover(rows, block_y) * block_y))


def _wrong_block_side(
    a: np.ndarray, bias: np.ndarray, rows: int, block_x: int, block_y: int
) -> np.ndarray:
    block, thread = np.indices((blocks_to_cover(rows, block_y), block_y))
    reached = np.isin(np.arange(rows), block * block_x + thread)
    return where_written(a + bias, reached[:, None])


BLOCKS_2D = KernelPuzzle(
    **told(__file__),
    cases=(
        sized("visible example", visible=True, rows=5, cols=10, block_x=4, block_y=2),
        sized("one cell", rows=1, cols=1, block_x=4, block_y=2),
        sized("taller than wide", rows=37, cols=11, block_x=8, block_y=4),
        sized("large numbers", rows=37, cols=41, block_x=8, block_y=4, doublings=10),
        sized("wider than tall", rows=9, cols=70, block_x=16, block_y=4),
        sized("whole blocks only", rows=12, cols=32, block_x=16, block_y=4),
        special("NaN and infinities", rows=11, cols=19, block_x=8, block_y=4),
    ),
    random_case=drawn(rows=(5, 30), cols=(31, 60), block_x=[8, 16], block_y=[2, 4]),
    inputs=arrays("rows", "cols", a="rows cols", bias="cols"),
    launches=enough_blocks(
        "blocks_2d", "out", "a", "bias", "rows", "cols", block=("block_x", "block_y")
    ),
    reference=gives(lambda a, bias: a + bias),
    diagnose=recognise(
        ("bias-by-row", _bias_by_row),
        ("swapped-axes", _swapped_grid),
        ("missing-rows", _wrong_block_side),
    ),
    share=ONE_CELL_EACH,
)

"""Puzzle `blocks_2d`: a bias for every column."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import (
    BRANCHES,
    ONE_CELL_EACH,
    TRAFFIC,
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
from gpu_course.puzzle.specification import Debrief, KernelPuzzle, Mistake


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


DEBRIEF = Debrief(
    shows=(*TRAFFIC, *BRANCHES),
    why=(
        "Rows and columns are numbered separately, each by block and thread along its own axis, "
        "and each has its own edge. A cell of bias is read by a whole column of threads, which is "
        "safe since no thread writes it."
    ),
    alternative=(
        "cuda.grid(2) gives both numbers at once, x first. Many libraries use a flat grid instead "
        "and divide by the number of columns, which suits any shape of array."
    ),
)

BLOCKS_2D = KernelPuzzle(
    name="01_threads/blocks_2d",
    title="a bias for every column",
    difficulty="medium",
    minutes=8,
    debrief=DEBRIEF,
    statement=(
        "a holds the activations of a layer: `rows` examples, `cols` features. Add to each "
        "feature its bias: out[row, col] = a[row, col] + bias[col]. Many blocks share the array, "
        "and each thread writes at most one cell. Neither side of the array is a multiple of the "
        "block's. a and bias may hold NaN and infinities as well."
    ),
    parameters={"blocks_2d": ("out", "a", "bias", "rows", "cols")},
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
    diagnoses={
        "bias-by-row": (
            "Every number in one row got the same bias. A bias belongs to a feature, and features "
            "are columns."
        ),
        "swapped-axes": (
            "The columns at the right were never written, although the grid covers them. The grid "
            "is wide in x. Which of row and col should come from x? cuda.grid(2) gives x first."
        ),
        "missing-rows": (
            "Whole rows were left out, at a regular distance. Blocks above each other lie as many "
            "rows apart as a block is high: which of its two sides is that?"
        ),
        "race": (
            "Two threads wrote to one cell. In each of the two directions, does the index "
            "depend on the thread and on the block it is in?"
        ),
        "out-of-bounds": (
            "A thread outside the array touched it. The blocks at the right edge stick out in x, "
            "those at the bottom in y, the one in the corner in both: one condition is not enough."
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        "It is the index of `blocks`, twice: once along x, once along y.",
        (
            "Each axis takes its block number, its block side and its thread number from the same "
            "letter. Decide which letter runs along a row."
        ),
        (
            "cuda.grid(2) gives both indices at once, x first, so think about the order of the "
            "names on the left. Guard both axes; bias has one index."
        ),
    ),
    mistakes=(
        Mistake("row_from_x", "wrong-result", "swapped-axes"),
        Mistake("thread_number_without_block_in_y", "hazard", "race"),
        Mistake("block_width_for_block_height", "wrong-result", "missing-rows"),
        Mistake("guard_in_one_axis", "hazard", "out-of-bounds"),
        Mistake("bias_of_the_row", "wrong-result", "bias-by-row"),
        Mistake("one_thread_of_each_block", "over-budget", "not-shared"),
    ),
    source="after 'Blocks 2D' in Sasha Rush, GPU-Puzzles, https://github.com/srush/GPU-Puzzles",
)

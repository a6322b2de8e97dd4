"""What the puzzles on threads share: sizes that show a slip, and what a slip looks like."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import sized, special, where_written
from gpu_course.puzzle.specification import Case

PICTURES = (
    sized("visible example", visible=True, rows=3, cols=5, block_x=6, block_y=4),
    sized("one cell", rows=1, cols=1, block_x=3, block_y=2),
    sized("a single row", rows=1, cols=7, block_x=8, block_y=2),
    sized("taller than wide", rows=9, cols=4, block_x=5, block_y=10),
    sized("exactly enough threads", rows=4, cols=8, block_x=8, block_y=4),
    sized("large numbers", rows=15, cols=60, block_x=64, block_y=16, doublings=10),
    special("NaN and infinities", rows=5, cols=11, block_x=12, block_y=7),
)
"""Sizes of the one-block 2-D puzzles: no square arrays and no square blocks."""

SEVERAL_BLOCKS = (
    sized("visible example", visible=True, size=10, block=4),
    sized("one cell", size=1, block=4),
    sized("one cell more than two blocks", size=65, block=32),
    sized("exactly two blocks", size=64, block=32),
)
"""Sizes at which an index or a guard goes wrong where several blocks cover a vector; a puzzle adds
larger ones."""


def random_picture(rng: np.random.Generator) -> Case:
    rows, more = int(rng.integers(2, 10)), int(rng.integers(1, 9))
    return sized(
        "sizes drawn at random", rows=rows, cols=rows + more, block_x=rows + more + 1,
        block_y=rows + int(rng.integers(0, more)),
    )  # fmt: skip


def with_swapped_axes(values: np.ndarray, case: Case) -> np.ndarray:
    """Returns what is written of `values` by whoever takes the row from x and the column from y."""
    # With row from x and col from y, the block reaches block_x rows and block_y columns.
    row, col = np.indices(values.shape)
    reached = (row < case.sizes["block_x"]) & (col < case.sizes["block_y"])
    return where_written(values, reached)

"""Puzzle `broadcast`: a column plus a row."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.threads.pieces import (
    PICTURES,
    random_picture,
    with_swapped_axes,
)
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    gives,
    one_block,
    recognise,
)
from gpu_course.puzzle.room import told
from gpu_course.puzzle.specification import KernelPuzzle

BROADCAST = KernelPuzzle(
    **told(__file__),
    cases=PICTURES,
    random_case=random_picture,
    inputs=arrays("rows", "cols", a="rows 1", b="1 cols"),
    launches=one_block(
        "broadcast", "out", "a", "b", "rows", "cols", threads=("block_x", "block_y")
    ),
    reference=gives(lambda a, b: a + b),
    diagnose=recognise(
        ("multiplied", lambda a, b: a * b),
        ("rows-alike", lambda a, b, rows: np.repeat(a[:1] + b, rows, axis=0)),
        ("columns-alike", lambda a, b, cols: np.repeat(a + b[:, :1], cols, axis=1)),
        ("swapped-axes", lambda a, b, case: with_swapped_axes(a + b, case)),
    ),
    share=ONE_CELL_EACH,
)

"""Puzzle `transpose_tiled`: rows become columns."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.shared_memory.squares import CASES, IN_ORDER, TILE, random_matrix
from gpu_course.puzzle.builders import ONE_CELL_EACH, arrays, enough_blocks, gives, recognise
from gpu_course.puzzle.room import told
from gpu_course.puzzle.specification import KernelPuzzle, Values


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


TRANSPOSE_TILED = KernelPuzzle(
    **told(__file__),
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
    share=ONE_CELL_EACH,
)

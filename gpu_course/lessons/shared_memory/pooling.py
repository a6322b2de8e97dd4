"""Puzzle `pooling`: the largest of the last four."""

from __future__ import annotations

import math

import numpy as np

from gpu_course.lessons.shared_memory.pieces import TPB, WARP, beyond, clamped_bytes
from gpu_course.puzzle.builders import (
    INFINITIES,
    ONE_CELL_EACH,
    arrays,
    began_too_high,
    drawn_case,
    gives,
    sized,
    special,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Bonus,
    Budget,
    Case,
    KernelPuzzle,
    Launch,
)

WINDOW = 4


def _windows(a: np.ndarray, first: int, last: int) -> list[np.ndarray]:
    """The columns `first` to `last` places to the right of each column, NaN beyond the row."""
    rows, cols = a.shape
    wide = np.full((rows, cols + 2 * WINDOW), np.nan, np.float32)
    wide[:, WINDOW : WINDOW + cols] = a
    return [wide[:, WINDOW + at : WINDOW + at + cols] for at in range(first, last + 1)]


def _largest(a: np.ndarray, first: int, last: int) -> np.ndarray:
    return np.fmax.reduce(_windows(a, first, last))


def _bytes(case: Case) -> int:
    rows, cols = case.sizes["rows"], case.sizes["cols"]
    return 4 * rows * cols + clamped_bytes(rows * beyond(cols, TPB, before=0, after=0))


def _pooling_reads(case: Case) -> int:
    """The tile is read for the neighbours alone."""
    cols = case.sizes["cols"]
    first = min(WINDOW - 1, cols - 1)
    return case.sizes["rows"] * (first + (WINDOW - 1 if cols > WARP else 0))


POOLING = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=3, cols=12),
        sized("one cell", rows=1, cols=1),
        sized("rows shorter than the window", rows=4, cols=3),
        sized("a thread for every column", rows=5, cols=64),
        sized("two warps, not quite", rows=7, cols=51),
        sized("numbers near the ends of float32", rows=7, cols=50, doublings=122),
        special("infinities", (-math.inf, *INFINITIES), rows=5, cols=37),
    ),
    random_case=drawn_case(rows=(2, 12), cols=(6, 65)),
    inputs=arrays("cols", a="rows cols"),
    launches=lambda case: (Launch("pooling", case.sizes["rows"], TPB, ("out", "a", "cols")),),
    reference=gives(lambda a: _largest(a, 1 - WINDOW, 0)),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: _bytes(case),
            "Each number is wanted by up to WINDOW threads and should come from global memory "
            "once; the others find it in the tile.",
            "bytes loaded from a",
        ),
    ),
    diagnose=began_too_high,
    share=ONE_CELL_EACH,
    bonus=Bonus(
        "shared_load.requests",
        _pooling_reads,
    ),
)

"""Puzzle `bias_gelu`: two operations in one pass."""

from __future__ import annotations

import math

import numpy as np

from gpu_course.puzzle.builders import (
    arrays,
    blocks_to_cover,
    drawn_case,
    gives,
    sized,
    special,
)
from gpu_course.puzzle.memory_budgets import (
    IN_ORDER,
    NO_FLOAT64,
    bytes_loaded,
    bytes_stored,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, KernelPuzzle, Launch, Share

TPB = 64
ROWS = 4


def _gelu(x: np.ndarray, bias: np.ndarray) -> np.ndarray:
    v = (x + bias).astype(np.float64)  # one rounding to float32, as the kernel's sum has
    erf = np.vectorize(math.erf, otypes=[float])(v / math.sqrt(2))
    return np.asarray(v / 2 * (1 + erf), np.float32)


def _grid(case: Case) -> tuple[int, int]:
    return blocks_to_cover(case.sizes["cols"], TPB), blocks_to_cover(case.sizes["rows"], ROWS)


def _past_l2(least_bytes: int) -> Case:
    return sized("past L2", rows=blocks_to_cover(least_bytes, 2 * 4 * 4096), cols=4096, doublings=0)


BIAS_GELU = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=6, cols=70, doublings=-5),
        sized("one cell", rows=1, cols=1, doublings=0),
        sized("exactly one block", rows=ROWS, cols=TPB, doublings=-5),
        sized("a row and a column more", rows=ROWS + 1, cols=TPB + 1, doublings=-5),
        sized("far from 0", rows=9, cols=13, doublings=2),
        special("NaN and infinities", rows=5, cols=37, doublings=-4),
    ),
    random_case=drawn_case(rows=(5, 14), cols=(65, 140), doublings=(-6, -4)),
    inputs=arrays("rows", "cols", x="rows cols", bias="cols"),
    large=_past_l2,
    launches=lambda case: (
        Launch("bias_gelu", _grid(case), TPB, ("out", "x", "bias", "rows", "cols")),
    ),
    reference=gives(_gelu),
    tolerance=(1e-5, 1e-6),
    budgets=(
        bytes_stored(
            "A sum that goes to memory has to come back from there, and the next step wants it in "
            "this very thread."
        ),
        bytes_loaded(
            "x is read once, and a thread's cells all lie in one column: how many numbers of the "
            "bias does it need? What else does a thread fetch?"
        ),
        *IN_ORDER,
        NO_FLOAT64,
    ),
    share=Share("Each thread writes at most ROWS cells.", ROWS),
)

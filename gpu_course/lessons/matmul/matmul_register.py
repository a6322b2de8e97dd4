"""Puzzle `matmul_register`: 64 results in each thread's registers."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.matmul.pieces import (
    ALL_IN_FLOAT32,
    ARGUMENTS,
    LOADS_IN_ORDER,
    NO_ATOMICS,
    NO_CONFLICTS,
    STORES_IN_ORDER,
    large_square,
    product,
    square_grid,
)
from gpu_course.lessons.matmul.register_tiles import (
    BLOCK,
    CASES,
    EACH,
    FROM_REGISTERS,
    SHARE,
    TILE,
    inputs,
    random_case,
)
from gpu_course.puzzle.builders import gives, recognise
from gpu_course.puzzle.room import told
from gpu_course.puzzle.specification import KernelPuzzle, Launch, Values

ZERO_LINES = (
    "a_here[i] = a[row, start + x] if inside else {}",
    "b_here[i] = b[start + i, left + t] if inside else {}",
)


def _side_by_side(inputs: Values) -> dict[str, np.ndarray]:
    """Cells that were made EACH apart and put down as a square."""
    right = product(inputs["a"], inputs["b"])
    m, n = right.shape
    out = np.full_like(right, np.nan)
    rows, cols = _made_for(m), _made_for(n)
    whole = np.zeros((max(rows) + 1, max(cols) + 1), np.float32)
    whole[:m, :n] = right
    out[...] = whole[np.ix_(rows[:m], cols[:n])]
    return {"out": out}


def _made_for(size: int) -> list[int]:
    """For each place of a side the place whose sum is put there."""
    places = np.arange(-(-size // TILE) * TILE)
    inside = places % TILE
    return [int(p) for p in places - inside + inside // EACH + inside % EACH * EACH]


MATMUL_REGISTER = KernelPuzzle(
    **told(__file__),
    cases=CASES,
    random_case=random_case,
    inputs=inputs,
    large=large_square,
    launches=lambda case: (Launch("matmul_register", square_grid(case, TILE), BLOCK, ARGUMENTS),),
    reference=gives(lambda a, b: product(a, b)),
    budgets=(
        FROM_REGISTERS,
        LOADS_IN_ORDER,
        STORES_IN_ORDER,
        *NO_CONFLICTS,
        NO_ATOMICS,
        ALL_IN_FLOAT32,
    ),
    diagnose=recognise(("side-by-side", _side_by_side)),
    share=SHARE,
)

"""Puzzle `matmul_register`: 64 results in each thread's registers."""

from __future__ import annotations

from gpu_course.lessons.matmul.pieces import (
    ALL_IN_FLOAT32,
    LOADS_IN_ORDER,
    NO_ATOMICS,
    NO_CONFLICTS,
    STORES_IN_ORDER,
)
from gpu_course.lessons.matmul.register_tiles import (
    FROM_REGISTERS,
    register_tiled,
)
from gpu_course.puzzle.specification import KernelPuzzle

MATMUL_REGISTER = KernelPuzzle(
    **register_tiled(__file__),
    budgets=(
        FROM_REGISTERS,
        LOADS_IN_ORDER,
        STORES_IN_ORDER,
        *NO_CONFLICTS,
        NO_ATOMICS,
        ALL_IN_FLOAT32,
    ),
)

"""Puzzle `matmul_vectorized`: four numbers with each load from a tile."""

from __future__ import annotations

from gpu_course.lessons.matmul.pieces import (
    ALL_IN_FLOAT32,
    LOADS_IN_ORDER,
    NO_ATOMICS,
    NO_CONFLICTS,
)
from gpu_course.lessons.matmul.register_tiles import (
    FROM_REGISTERS,
    IN_FOURS,
    register_tiled,
)
from gpu_course.puzzle.specification import KernelPuzzle

MATMUL_VECTORIZED = KernelPuzzle(
    **register_tiled(__file__),
    budgets=(
        FROM_REGISTERS,
        IN_FOURS,
        LOADS_IN_ORDER,
        *NO_CONFLICTS,
        NO_ATOMICS,
        ALL_IN_FLOAT32,
    ),
)

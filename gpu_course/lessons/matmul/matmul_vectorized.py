"""Puzzle `matmul_vectorized`: four numbers with each load from a tile."""

from __future__ import annotations

from gpu_course.lessons.matmul.pieces import (
    ALL_IN_FLOAT32,
    ARGUMENTS,
    LOADS_IN_ORDER,
    NO_ATOMICS,
    NO_CONFLICTS,
    large_square,
    product,
    square_grid,
)
from gpu_course.lessons.matmul.register_tiles import (
    BLOCK,
    CASES,
    FROM_REGISTERS,
    IN_FOURS,
    SHARE,
    TILE,
    inputs,
    random_case,
)
from gpu_course.puzzle.builders import gives
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import KernelPuzzle, Launch

MATMUL_VECTORIZED = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=CASES,
    random_case=random_case,
    inputs=inputs,
    large=large_square,
    launches=lambda case: (Launch("matmul_vectorized", square_grid(case, TILE), BLOCK, ARGUMENTS),),
    reference=gives(lambda a, b: product(a, b)),
    budgets=(
        FROM_REGISTERS,
        IN_FOURS,
        LOADS_IN_ORDER,
        *NO_CONFLICTS,
        NO_ATOMICS,
        ALL_IN_FLOAT32,
    ),
    share=SHARE,
)

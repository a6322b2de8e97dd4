"""Puzzle `transpose_tiled`: rows become columns."""

from __future__ import annotations

from gpu_course.lessons.shared_memory.squares import CASES, IN_ORDER, TILE, random_matrix
from gpu_course.puzzle.builders import ONE_CELL_EACH, arrays, enough_blocks, gives
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import KernelPuzzle

TRANSPOSE_TILED = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=CASES,
    random_case=random_matrix,
    inputs=arrays("rows", "cols", a="rows cols"),
    launches=enough_blocks("transpose_tiled", "out", "a", "rows", "cols", block=(TILE, TILE)),
    reference=gives(lambda a: a.T.copy()),
    budgets=IN_ORDER,
    share=ONE_CELL_EACH,
)

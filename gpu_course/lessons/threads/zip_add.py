"""Puzzle `zip_add`: two arrays, one sum."""

from __future__ import annotations

from gpu_course.puzzle.builders import (
    ONE_BLOCK,
    ONE_CELL_EACH,
    arrays,
    drawn_case,
    gives,
    one_block,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import KernelPuzzle

ZIP_ADD = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=ONE_BLOCK,
    random_case=drawn_case(size=(2, 200)),
    inputs=arrays(a="size", b="size"),
    launches=one_block("zip_add", "out", "a", "b", threads="size"),
    reference=gives(lambda a, b: a + b),
    share=ONE_CELL_EACH,
)

"""Puzzle `zip_add`: two arrays, one sum."""

from __future__ import annotations

from gpu_course.puzzle.builders import (
    ONE_BLOCK,
    ONE_CELL_EACH,
    arrays,
    drawn,
    gives,
    one_block,
)
from gpu_course.puzzle.room import told
from gpu_course.puzzle.specification import KernelPuzzle

ZIP_ADD = KernelPuzzle(
    **told(__file__),
    cases=ONE_BLOCK,
    random_case=drawn(size=(2, 200)),
    inputs=arrays(a="size", b="size"),
    launches=one_block("zip_add", "out", "a", "b", threads="size"),
    reference=gives(lambda a, b: a + b),
    share=ONE_CELL_EACH,
)

"""Puzzle `guard`: more threads than data."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    gives,
    one_block,
    sized,
    special,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, KernelPuzzle


def _more_threads_than_cells(size: int, rng: np.random.Generator) -> Case:
    threads = size + int(rng.integers(1, 40))
    return sized("sizes drawn at random", size=size, threads=threads)


GUARD = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=8, threads=12),
        sized("one cell", size=1, threads=4),
        sized("one thread too many", size=31, threads=32),
        sized("exactly enough threads", size=64, threads=64),
        sized("almost all threads left over", size=5, threads=256),
        sized("1,000 large numbers", size=1000, threads=1024, doublings=10),
        special("NaN and infinities", size=37, threads=40),
    ),
    random_case=lambda rng: _more_threads_than_cells(int(rng.integers(2, 200)), rng),
    inputs=arrays("size", a="size"),
    launches=one_block("guard", "out", "a", "size"),
    reference=gives(lambda a: a + np.float32(10)),
    share=ONE_CELL_EACH,
)

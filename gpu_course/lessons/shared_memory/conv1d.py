"""Puzzle `conv1d`: weights moved along the array."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.shared_memory.pieces import TPB, beyond, clamped_bytes, starts
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    drawn_case,
    enough_blocks,
    gives,
    sized,
    special,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, Case, KernelPuzzle

MAX_TAPS = 16


def _convolved(a: np.ndarray, w: np.ndarray) -> np.ndarray:
    beyond = np.concatenate([a, np.zeros(len(w) - 1, np.float32)])
    products = [weight * beyond[k : k + len(a)] for k, weight in enumerate(w)]
    return np.asarray(np.sum(products, axis=0, dtype=np.float32))


def _bytes(case: Case) -> int:
    size, taps = case.sizes["size"], case.sizes["taps"]
    cells = sum(min(start + TPB + taps - 1, size) - start for start in starts(size))
    weights = taps * len(starts(size))
    return 4 * (cells + weights) + clamped_bytes(beyond(size, TPB, before=0, after=taps - 1))


CONV1D = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=100, taps=4),
        sized("one cell", size=1, taps=3),
        sized("a single weight", size=70, taps=1),
        sized("exactly two blocks, large numbers", size=128, taps=7, doublings=50),
        sized("three cells behind a block", size=67, taps=9),
        sized("as many weights as there can be", size=500, taps=MAX_TAPS),
        special("NaN and infinities", size=131, taps=5),
    ),
    random_case=drawn_case(size=(65, 600), taps=(2, 17)),
    inputs=arrays("size", "taps", a="size", w="taps", ordinary=("w",)),
    launches=enough_blocks("conv1d", "out", "a", "w", "size", "taps", block=TPB),
    reference=gives(lambda a, w: _convolved(a, w)),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: _bytes(case),
            "Cells, halo and weights are wanted by many threads of a block, and each of them "
            "should come from global memory once per block. The rest is what tiles are for; and "
            "how long the halo has to be, taps says.",
            "bytes loaded from global memory",
        ),
    ),
    share=ONE_CELL_EACH,
)

"""Puzzle `kahan_sum`: a float32 sum that is as good as its inputs."""

from __future__ import annotations

import math

import numpy as np

from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    blocks_to_cover,
    enough_blocks,
    gives,
    sized,
)
from gpu_course.puzzle.memory_budgets import IN_ORDER, NO_FLOAT64, bytes_loaded, bytes_stored
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, KernelPuzzle, Values

TPB = 64
BOUND = 3e-7
"""Five units in the last place and a little: Kahan's bound is 2u of the sum of the sizes, which are
at most twice the sum, and the expected number has one rounding of its own; u is 2**-24."""
_STEP = 1 << 18
"""Units between neighbours among float32 numbers of the size of the large ones."""


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    """One large number in each column, and many that are too small to move it alone.

    In a plain sum each small number that comes after the large one is lost, or pulls in a whole
    step. All are multiples of one unit, so exact sums can be had.
    """
    size, rows = case.sizes["size"], case.sizes["rows"]
    small = _distinct(rng, rows * size).reshape(rows, size).astype(np.float64)
    # Most of a column go one way, so that what is lost adds up; a few go the other.
    signs = np.where(rng.random((rows, size)) < 0.1, -1, 1)
    large = rng.permutation(np.arange(1 << 23, 1 << 24, (1 << 23) // max(size, 2))[:size])
    small *= signs
    where = rng.integers(0, max(rows // 3, 1), size)
    if case.sizes.get("late"):
        where = rng.integers(rows // 3, rows, size)
    small[where, np.arange(size)] = large * float(_STEP)
    small *= np.where(np.arange(size) % 2, -1, 1)
    a = (small / 8 * 2.0 ** case.sizes.get("doublings", 0)).astype(np.float32)
    if case.sizes.get("infinite"):
        for col, put in enumerate(((np.inf,), (-np.inf,), (np.nan,), (np.inf, -np.inf), (0.0,))):
            if col < size and len(put) <= rows:
                a[rng.permutation(rows)[: len(put)], col] = put
    return {"a": a, "rows": rows, "size": size}


def _distinct(rng: np.random.Generator, count: int) -> np.ndarray:
    """Numbers of 0.27 to 0.48 of a step, so that the large one swallows them."""
    first, behind = int(0.27 * _STEP), int(0.48 * _STEP)
    if count > behind - first:
        return rng.integers(first, behind, count)
    return first + rng.permutation(behind - first)[:count]


def exact_sum(numbers: np.ndarray) -> float:
    """Returns the sum of a column without any rounding but the last."""
    if not np.isfinite(numbers).all():
        return float(np.sum(numbers.astype(np.float64)))
    return math.fsum(numbers.tolist())


def _sums(a: np.ndarray) -> np.ndarray:
    return np.array([exact_sum(column) for column in a.T], np.float64).astype(np.float32)


KAHAN_SUM = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=96, size=70, doublings=-40),
        sized("one number", rows=1, size=1),
        sized("three rows", rows=3, size=5, doublings=-30),
        sized("exactly one block", rows=61, size=TPB, doublings=-44),
        sized("the large number comes late", rows=150, size=75, late=1, doublings=-20),
        sized("many rows", rows=222, size=66, doublings=-60),
        sized("NaN and infinities", rows=42, size=71, infinite=1, doublings=-44),
    ),
    random_case=lambda rng: sized(
        "sizes drawn at random",
        rows=int(rng.integers(70, 160)),
        size=int(rng.integers(65, 150)),
        late=int(rng.integers(0, 2)),
        doublings=-int(rng.integers(20, 60)),
    ),
    inputs=_inputs,
    large=lambda least_bytes: sized(
        "past L2", rows=256, size=blocks_to_cover(least_bytes, 4 * 256), doublings=-44
    ),
    launches=enough_blocks("kahan_sum", "out", "a", "rows", "size", block=TPB),
    reference=gives(_sums),
    tolerance=(BOUND, 0.0),
    budgets=(
        bytes_loaded("Each number is needed once. What a thread has read it can keep."),
        bytes_stored("Each cell of out is written once, when the sum is complete."),
        *IN_ORDER,
        NO_FLOAT64,
    ),
    share=ONE_CELL_EACH,
)

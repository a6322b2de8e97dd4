"""Puzzle `rmsnorm`: a row kept while its size is found."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import blocks_to_cover, eighths, gives, sized, special
from gpu_course.puzzle.memory_budgets import (
    IN_ORDER,
    NO_ATOMICS,
    NO_FLOAT64,
    barriers,
    bytes_loaded,
    bytes_stored,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, KernelPuzzle, Launch, Share, Values

TPB = 128
KEPT = 8


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    rows, cols = case.sizes["rows"], case.sizes["cols"]
    x = eighths(rng, (rows, cols), case)
    if case.sizes.get("zeros"):
        x[0] = 0
    weight = eighths(rng, cols) * np.float32(1 / 16)
    return {"x": x, "weight": weight, "cols": cols, "eps": _eps(case)}


def _eps(case: Case) -> np.float32:
    """Large in one case, where it shows where it was added."""
    return np.float32(2 if case.sizes.get("large_eps") else 2**-17)


def _normal(x: np.ndarray, weight: np.ndarray, eps: np.float32) -> np.ndarray:
    wide = x.astype(np.float64)
    rms = np.sqrt((wide * wide).mean(axis=1, keepdims=True) + eps)
    return np.asarray(wide / rms * weight, np.float32)


RMSNORM = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=3, cols=200),
        sized("one cell", rows=1, cols=1),
        sized("rows shorter than a warp", rows=3, cols=31),
        sized("exactly one each", rows=2, cols=TPB),
        sized("as long as rows may be", rows=2, cols=TPB * KEPT, doublings=-6),
        sized("small numbers and a large eps", rows=4, cols=133, doublings=-5, large_eps=1),
        sized("a row of zeros", rows=2, cols=70, zeros=1),
        special("NaN and infinities", rows=5, cols=141),
    ),
    random_case=lambda rng: sized(
        "sizes drawn at random", rows=int(rng.integers(2, 5)), cols=int(rng.integers(130, 500))
    ),
    inputs=_inputs,
    large=lambda least_bytes: sized(
        "past L2", rows=blocks_to_cover(least_bytes, 2 * 4 * TPB * KEPT), cols=TPB * KEPT
    ),
    launches=lambda case: (
        Launch("rmsnorm", case.sizes["rows"], TPB, ("out", "x", "weight", "cols", "eps")),
    ),
    reference=gives(_normal),
    tolerance=(1e-5, 1e-6),
    budgets=(
        bytes_loaded(
            "Each number of x has to come from memory once. What a thread has read it can keep: in "
            "a local array whose index the compiler knows, or in shared memory."
        ),
        bytes_stored("Each cell of out is written once, when all is known."),
        # A tree in shared memory takes eight; a warp that adds up for all the others takes two.
        barriers(2),
        NO_ATOMICS,
        *IN_ORDER,
        NO_FLOAT64,
    ),
    share=Share("Each thread writes at most KEPT cells.", KEPT),
)

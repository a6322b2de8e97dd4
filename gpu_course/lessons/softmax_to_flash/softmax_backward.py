"""Puzzle `softmax_backward`: what the shares pass back, each read once."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import blocks_to_cover, eighths, gives, sized, special
from gpu_course.puzzle.memory_budgets import (
    IN_ORDER,
    IN_REGISTERS,
    NO_ATOMICS,
    NO_FLOAT64,
    barriers,
    bytes_stored,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, Case, KernelPuzzle, Launch, Share, Values

TPB = 128
KEPT = 8


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    """Products of some size: without them a sum that lacks one would still be right enough."""
    rows, cols = case.sizes["rows"], case.sizes["cols"]
    y, dy = eighths(rng, (rows, cols), case), eighths(rng, (rows, cols), case)
    if case.special:
        y[rows // 2, 7] = 0  # in a row whose sum is infinite
    return {"y": y, "dy": dy, "cols": cols}


def _passed_back(y: np.ndarray, dy: np.ndarray) -> np.ndarray:
    wide = y.astype(np.float64)
    total = (wide * dy).sum(axis=1, keepdims=True)
    return np.asarray(wide * (dy - total), np.float32)


def _readings(case: Case) -> int:
    """One of each number of y and dy, and two where a row is too long to be kept."""
    rows, cols = case.sizes["rows"], case.sizes["cols"]
    return 2 * 4 * rows * cols * (1 if cols <= TPB * KEPT else 2)


SOFTMAX_BACKWARD = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=3, cols=200, doublings=-4),
        sized("one cell", rows=1, cols=1),
        sized("one column", rows=3, cols=1),
        sized("rows shorter than a warp", rows=3, cols=31),
        sized("exactly one each", rows=2, cols=TPB, doublings=-3),
        sized("as long as rows can be kept", rows=2, cols=TPB * KEPT, doublings=-6),
        sized("longer than can be kept", rows=2, cols=TPB * KEPT + 141, doublings=-6),
        special("NaN and infinities", rows=5, cols=141),
    ),
    random_case=lambda rng: sized(
        "sizes drawn at random",
        rows=int(rng.integers(2, 5)),
        cols=int(rng.integers(130, 500)),
        doublings=-4,
    ),
    inputs=_inputs,
    large=lambda least_bytes: sized(
        "past L2", rows=blocks_to_cover(least_bytes, 3 * 4 * TPB * KEPT), cols=TPB * KEPT
    ),
    launches=lambda case: (
        Launch("softmax_backward", case.sizes["rows"], TPB, ("dx", "y", "dy", "cols")),
    ),
    reference=gives(lambda y, dy: {"dx": _passed_back(y, dy)}),
    tolerance=(2e-5, 1e-4),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: _readings(case),
            "y and dy are needed for the sum and once more when it is known. What a thread has "
            "read it can keep: in local arrays whose index the compiler knows, or in shared "
            "memory.",
            "bytes loaded",
        ),
        bytes_stored("Each cell of dx is written once, when the sum is known."),
        # A warp that adds up for all the others takes two.
        barriers(2),
        NO_ATOMICS,
        IN_REGISTERS,
        *IN_ORDER,
        NO_FLOAT64,
    ),
    share=Share(
        "Each thread writes every TPB-th column of its row.",
        lambda case, output: blocks_to_cover(case.sizes["cols"], TPB),
    ),
)

"""Puzzle `softmax`: shares of 1, a row for each warp."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.softmax_to_flash.rows import TPB, WARPS, row_cases, row_inputs, shares
from gpu_course.puzzle.builders import blocks_to_cover, gives, sized
from gpu_course.puzzle.memory_budgets import (
    IN_ORDER,
    IN_REGISTERS,
    NO_ATOMICS,
    NO_BARRIERS,
    NO_FLOAT64,
    bytes_stored,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, KernelPuzzle, Launch, Share

SOFTMAX = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=row_cases(300),
    random_case=lambda rng: sized(
        "sizes drawn at random", rows=int(rng.integers(2, 10)), cols=int(rng.integers(40, 300))
    ),
    inputs=row_inputs,
    large=lambda least_bytes: sized(
        "past L2", rows=blocks_to_cover(least_bytes, 2 * 4 * 1024), cols=1024
    ),
    launches=lambda case: (
        Launch(
            "softmax", blocks_to_cover(case.sizes["rows"], WARPS), TPB, ("out", "x", "rows", "cols")
        ),
    ),
    reference=gives(lambda x: shares(x).astype(np.float32)),
    tolerance=(1e-5, 1e-8),
    budgets=(
        Budget(
            "global_load.bytes",
            # And a first number that each lane may begin with.
            lambda case, counters: 4 * case.sizes["rows"] * (3 * case.sizes["cols"] + 32),
            "Three readings of a row are enough: for the largest number, for the sum, and for the "
            "shares. What one lane has found, the other lanes can have from it without memory.",
            "bytes loaded",
        ),
        bytes_stored("Each share is written once, when the sum is known."),
        NO_BARRIERS,
        NO_ATOMICS,
        IN_REGISTERS,
        *IN_ORDER,
        NO_FLOAT64,
    ),
    share=Share(
        "Each thread writes every 32nd column of its row.",
        lambda case, output: blocks_to_cover(case.sizes["cols"], 32),
    ),
)

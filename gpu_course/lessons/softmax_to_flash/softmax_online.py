"""Puzzle `softmax_online`: the same shares, with one reading less."""

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
from gpu_course.puzzle.specification import Bonus, Budget, Case, KernelPuzzle, Launch, Share, Values


def _right(x: np.ndarray) -> Values:
    wide = x.astype(np.float64)
    most = wide.max(axis=1)
    safe = np.where(np.isfinite(most), most, 0)
    log = np.log(np.exp(wide - safe[:, None]).sum(axis=1)) + safe
    lse = np.where(most == np.inf, np.nan, log)
    return {"out": shares(x).astype(np.float32), "lse": lse.astype(np.float32)}


def _readings(case: Case, how_many: int) -> int:
    """So many of each number, and a first number that each lane may begin with."""
    return 4 * case.sizes["rows"] * (how_many * case.sizes["cols"] + 32)


SOFTMAX_ONLINE = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=row_cases(430),
    random_case=lambda rng: sized(
        "sizes drawn at random", rows=int(rng.integers(2, 10)), cols=int(rng.integers(40, 300))
    ),
    inputs=row_inputs,
    large=lambda least_bytes: sized(
        "past L2", rows=blocks_to_cover(least_bytes, 2 * 4 * 4096), cols=4096
    ),
    launches=lambda case: (
        Launch(
            "softmax_online",
            blocks_to_cover(case.sizes["rows"], WARPS),
            TPB,
            ("out", "lse", "x", "rows", "cols"),
        ),
    ),
    reference=gives(_right),
    tolerance=(1e-5, 1e-8),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: _readings(case, 2),
            "Largest and sum can be found on one way through the row. A sum that was taken with a "
            "smaller number than the largest can still be put right when a larger one comes.",
            "bytes loaded",
        ),
        bytes_stored("Each share is written once, when the sum is known, and lse by one lane."),
        NO_BARRIERS,
        NO_ATOMICS,
        IN_REGISTERS,
        *IN_ORDER,
        NO_FLOAT64,
    ),
    share=Share(
        "Each thread writes every 32nd column of its row.",
        lambda case, output: 1 if output == "lse" else blocks_to_cover(case.sizes["cols"], 32),
    ),
    bonus=Bonus(
        "global_load.bytes",
        # The first 256 numbers once, which is 8 a lane, and what is left twice.
        lambda case: (
            4 * case.sizes["rows"] * (2 * case.sizes["cols"] - min(case.sizes["cols"], 256) + 32)
        ),
    ),
)

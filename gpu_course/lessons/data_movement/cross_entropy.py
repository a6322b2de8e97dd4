"""Puzzle `cross_entropy`: loss and gradient in two reads and a write."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import blocks_to_cover, eighths, gives, sized
from gpu_course.puzzle.memory_budgets import (
    IN_ORDER,
    NO_ATOMICS,
    NO_FLOAT64,
    barriers,
    bytes_stored,
    looked_up_again,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, Case, KernelPuzzle, Launch, Share, Values

TPB = 128
WARPS = TPB // 32


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    rows, cols = case.sizes["rows"], case.sizes["cols"]
    logits = eighths(rng, (rows, cols), case)
    if case.sizes.get("negative"):
        logits -= np.float32(500)
    if case.sizes.get("masked"):  # a whole warp begins with nothing but minus infinity
        logits[:, : cols // 2] = -np.inf
    if case.sizes.get("peaks"):  # of one warp or another, far above what all others have met
        logits[np.arange(rows), rng.permutation(cols)[:rows]] += np.float32(300)
    target = rng.integers(0, cols, rows)
    if case.sizes.get("masked"):
        target = cols - 1 - target % (cols - cols // 2)
    target[0] = cols - 1
    return {
        "logits": logits,
        "target": target.astype(np.int32),
        "cols": cols,
        "share": np.float32(1 / rows),
    }


def _right(logits: np.ndarray, target: np.ndarray, share: np.float32) -> Values:
    wide = logits.astype(np.float64)
    most = wide.max(axis=1, keepdims=True)
    parts = np.exp(wide - most)
    total = parts.sum(axis=1, keepdims=True)
    slope = parts / total
    rows = np.arange(len(wide))
    loss = np.log(total[:, 0]) + most[:, 0] - wide[rows, target]
    slope[rows, target] -= 1
    return {"loss": np.float32(loss), "logits": np.float32(slope * float(share))}


def _two_readings(case: Case) -> int:
    """Two of each number, and one of the target and its number for each lane that likes."""
    rows, cols = case.sizes["rows"], case.sizes["cols"]
    return 4 * rows * (2 * cols + 4 * WARPS)


CROSS_ENTROPY = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=3, cols=200, doublings=-3),
        sized("one class", rows=1, cols=1, doublings=0),
        sized("31 classes", rows=3, cols=31, doublings=-1),
        sized("exactly one each", rows=2, cols=TPB, doublings=-1),
        sized("large numbers", rows=3, cols=300, doublings=1),
        sized("far below zero", rows=2, cols=150, doublings=-3, negative=1),
        sized("half of the classes shut out", rows=2, cols=300, doublings=-3, masked=1),
        sized("one number far above the others", rows=5, cols=170, doublings=-3, peaks=1),
        sized("a row for every warp to work on", rows=1, cols=1100, doublings=0),
    ),
    random_case=lambda rng: sized(
        "sizes drawn at random",
        rows=int(rng.integers(2, 5)),
        cols=int(rng.integers(130, 500)),
        doublings=-3,
    ),
    inputs=_inputs,
    large=lambda least_bytes: sized(
        "past L2", rows=blocks_to_cover(least_bytes, 4 * 32768), cols=32768
    ),
    launches=lambda case: (
        Launch(
            "cross_entropy",
            case.sizes["rows"],
            TPB,
            ("loss", "logits", "target", "cols", "share"),
        ),
    ),
    reference=gives(_right),
    tolerance=(1e-5, 1e-6),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: _two_readings(case),
            "Each number has to be read twice: for the sum, and for its gradient. The largest can "
            "be found on the way to the sum: a sum that was taken with a smaller one can be scaled "
            "down.",
            "bytes loaded",
            spare=looked_up_again,
        ),
        bytes_stored("Each gradient is written once, where its number stood."),
        barriers(3),
        NO_ATOMICS,
        *IN_ORDER,
        NO_FLOAT64,
    ),
    share=Share(
        "Each thread changes every TPB-th column of the row.",
        lambda case, output: 1 if output == "loss" else blocks_to_cover(case.sizes["cols"], TPB),
    ),
)

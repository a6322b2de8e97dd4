"""Puzzle `residual_layernorm`: add, then normalise, each number read once."""

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
ARGUMENTS = ("out", "total", "x", "residual", "weight", "bias", "cols", "eps")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    """Rows far from 0 lie `far` away, and their spread stays that of a few numbers."""
    rows, cols = case.sizes["rows"], case.sizes["cols"]
    x = eighths(rng, (rows, cols), case)
    residual = eighths(rng, (rows, cols), case)
    if far := case.sizes.get("far", 0):
        x = (rng.integers(-160, 160, (rows, cols)) / 8 + far).astype(np.float32)
        residual = (rng.integers(-160, 160, (rows, cols)) / 8).astype(np.float32)
    if case.sizes.get("level"):
        x[0], residual[0] = 3, 4
    return {
        "x": x,
        "residual": residual,
        "weight": eighths(rng, cols) / np.float32(16),
        "bias": eighths(rng, cols) / np.float32(8),
        "cols": cols,
        "eps": np.float32(2 if case.sizes.get("large_eps") else 2**-17),
    }


def _normal(
    x: np.ndarray, residual: np.ndarray, weight: np.ndarray, bias: np.ndarray, eps: np.float32
) -> Values:
    total = x + residual
    wide = total.astype(np.float64)
    away = wide - wide.mean(axis=1, keepdims=True)
    rstd = 1 / np.sqrt((away * away).mean(axis=1, keepdims=True) + eps)
    return {"out": np.float32(away * rstd * weight + bias), "total": total}


RESIDUAL_LAYERNORM = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=3, cols=200),
        sized("one cell", rows=1, cols=1),
        sized("rows shorter than a warp", rows=3, cols=31),
        sized("exactly one each", rows=2, cols=TPB),
        sized("as long as rows may be", rows=2, cols=TPB * KEPT, doublings=-6),
        sized("rows far from 0", rows=3, cols=261, far=4096),
        sized("small numbers and a large eps", rows=3, cols=133, doublings=-5, large_eps=1),
        sized("a row of equal numbers", rows=2, cols=70, level=1),
        special("NaN and infinities", rows=5, cols=141),
    ),
    random_case=lambda rng: sized(
        "sizes drawn at random",
        rows=int(rng.integers(2, 5)),
        cols=int(rng.integers(130, 500)),
        far=int(rng.integers(1000, 2000)),
    ),
    inputs=_inputs,
    large=lambda least_bytes: sized(
        "past L2", rows=blocks_to_cover(least_bytes, 4 * 4 * TPB * KEPT), cols=TPB * KEPT
    ),
    launches=lambda case: (Launch("residual_layernorm", case.sizes["rows"], TPB, ARGUMENTS),),
    reference=gives(_normal),
    # Of rows 4,096 from 0 with a spread of 16, a mean in float32 is off by 1/8,192 at most.
    tolerance=(2e-5, 2e-4),
    budgets=(
        bytes_loaded(
            "x and residual come from memory once, and total is not read: what a thread has added "
            "up it can keep until the block knows mean and spread."
        ),
        bytes_stored("total is written once, and so is out, when all is known."),
        # Mean first and then the spread takes three; so does a warp that merges for all.
        barriers(3),
        NO_ATOMICS,
        *IN_ORDER,
        NO_FLOAT64,
    ),
    share=Share("Each thread writes at most KEPT cells of each array.", KEPT),
)

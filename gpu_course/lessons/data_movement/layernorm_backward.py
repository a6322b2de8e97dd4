"""Puzzle `layernorm_backward`: sums over rows and over columns, no atomics."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import blocks_to_cover, eighths, gives, sized
from gpu_course.puzzle.memory_budgets import (
    IN_ORDER,
    NO_ATOMICS,
    NO_FLOAT64,
    bytes_loaded,
    bytes_stored,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, Case, KernelPuzzle, Launch, Share, Values

TPB = 64
KEPT = 4
ROWS = 8
ARGUMENTS = ("dx", "part_w", "part_b", "dy", "x", "mean", "rstd", "weight", "rows", "cols")


def _strips(case: Case) -> int:
    return blocks_to_cover(case.sizes["rows"], ROWS)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    rows, cols = case.sizes["rows"], case.sizes["cols"]
    x = eighths(rng, (rows, cols), case)
    dy = eighths(rng, (rows, cols)) / np.float32(64)
    if case.sizes.get("unusual"):
        dy[2, 3] = np.nan
        dy[5, 1], dy[5, cols - 1] = np.inf, -np.inf
    return {
        "dy": dy,
        "x": x,
        "mean": x.mean(axis=1, dtype=np.float64).astype(np.float32),
        "rstd": (1 / np.sqrt(x.var(axis=1, dtype=np.float64) + 1e-5)).astype(np.float32),
        "weight": eighths(rng, cols) / np.float32(16),
        "rows": rows,
        "cols": cols,
        "strips": _strips(case),
    }


def _back(inputs: Values) -> Values:
    dy, x, mean, rstd, weight = (
        inputs[name].astype(np.float64) for name in ("dy", "x", "mean", "rstd", "weight")
    )
    h, g = (x - mean[:, None]) * rstd[:, None], dy * weight
    away = g - g.mean(axis=1, keepdims=True) - h * (g * h).mean(axis=1, keepdims=True)
    firsts = range(0, len(x), ROWS)
    part_w = np.stack([(dy * h)[first : first + ROWS].sum(axis=0) for first in firsts])
    part_b = np.stack([dy[first : first + ROWS].sum(axis=0) for first in firsts])
    found = {
        "dx": away * rstd[:, None],
        "part_w": part_w,
        "part_b": part_b,
        "dw": part_w.sum(axis=0),
        "db": part_b.sum(axis=0),
    }
    return {name: value.astype(np.float32) for name, value in found.items()}


LAYERNORM_BACKWARD = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=10, cols=70),
        sized("one cell", rows=1, cols=1),
        sized("one row", rows=1, cols=33),
        sized("one column", rows=9, cols=1),
        sized("exactly one strip", rows=ROWS, cols=TPB),
        sized("as long as rows may be", rows=5, cols=TPB * KEPT, doublings=-4),
        sized("a row more than two strips", rows=2 * ROWS + 1, cols=101),
        sized("NaN and infinities", rows=11, cols=75, unusual=1),
    ),
    random_case=lambda rng: sized(
        "sizes drawn at random", rows=int(rng.integers(9, 20)), cols=int(rng.integers(65, 200))
    ),
    inputs=_inputs,
    large=lambda least_bytes: sized(
        "past L2", rows=blocks_to_cover(least_bytes, 3 * 4 * TPB * KEPT), cols=TPB * KEPT
    ),
    launches=lambda case: (
        Launch("layernorm_backward", _strips(case), TPB, ARGUMENTS),
        Launch(
            "add_strips",
            blocks_to_cover(case.sizes["cols"], TPB),
            TPB,
            ("dw", "db", "part_w", "part_b", "strips", "cols"),
        ),
    ),
    reference=gives(lambda inputs: _back(inputs)),
    tolerance=(2e-5, 2e-5),
    budgets=(
        bytes_loaded(
            "x and dy come from memory once, and the weight once for a whole strip. What is needed "
            "in both passes over a row can stay with its thread."
        ),
        bytes_stored(
            "A thread has the same columns in every row of its strip: it can add them up itself, "
            "and write one number for each when the strip is done."
        ),
        Budget(
            "barriers",
            # Two barriers for each row, if the tile is not used in turns.
            lambda case, counters: 2 * counters.barriers,
            "At a barrier all warps of the block wait for the slowest. A row needs one, or two if "
            "its tile is used again at once.",
            "barriers, counted warp by warp",
        ),
        NO_ATOMICS,
        *IN_ORDER,
        NO_FLOAT64,
    ),
    share=Share(
        "Each thread has at most KEPT columns.",
        lambda case, output: {"dx": KEPT * ROWS, "dw": 1, "db": 1}.get(output, KEPT),
    ),
)

"""Puzzle `top_k`: the largest numbers of a row, in one reading."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import blocks_to_cover, eighths, gives, sized, special
from gpu_course.puzzle.memory_budgets import IN_ORDER, NO_ATOMICS, NO_FLOAT64
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, Case, KernelPuzzle, Launch, Share, Values

TPB = 128
MOST = 2048
ARGUMENTS = ("values", "places", "logits", "cols", "k")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    s = case.sizes
    rows, cols = s["rows"], s["cols"]
    logits = eighths(rng, (rows, cols), case)
    if s.get("steps"):  # so few different numbers that most come often; 0 and -0 are among them
        logits = np.round(logits / (cols / 8 / s["steps"]))
        logits[:2] = -np.abs(logits[:2])
        logits[logits == 0] *= rng.choice([-1, 1], int((logits == 0).sum()))
    if s.get("equal"):
        logits[:] = 0.5
    if s.get("negative"):
        logits -= np.float32(2 * cols)
    if s.get("masked"):  # all but a few
        logits[rng.random((rows, cols)) < 0.9] = -np.inf
    if s.get("rising"):
        logits.sort(axis=1)
    if s.get("hair"):  # 32 large ones, and much later one between the last two of them
        logits -= np.float32(2 * cols)
        logits[0, :32] = 100 + rng.permutation(32)
        logits[0, TPB + 2] = 100.5
    if s.get("nans"):
        logits[0, rng.permutation(cols)[:3]] = np.nan
        logits[-1, rng.permutation(cols)[:2]] = -np.nan
    return {"logits": logits.astype(np.float32), "cols": cols, "k": s["k"]}


def _largest(logits: np.ndarray, k: int) -> Values:
    wide = np.where(np.isnan(logits), np.inf, logits.astype(np.float64))
    columns = np.broadcast_to(np.arange(logits.shape[1]), logits.shape)
    # The last key weighs most: NaN before all, then the larger, then the lower column.
    order = np.lexsort((columns, -wide, ~np.isnan(logits)), axis=1)[:, :k]
    return {
        "values": np.take_along_axis(logits, order, axis=1),
        "places": order.astype(np.int32),
    }


def _one_reading(case: Case) -> int:
    """Each number once, and again those that were found."""
    return 4 * case.sizes["rows"] * (case.sizes["cols"] + case.sizes["k"])


TOP_K = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=2, cols=40, k=4),
        sized("one column", rows=1, cols=1, k=1),
        sized("all of a short row", rows=2, cols=31, k=31),
        sized("exactly one each", rows=2, cols=TPB, k=32),
        sized("many equal numbers", rows=3, cols=150, k=20, steps=4),
        sized("nothing but equal numbers", rows=1, cols=140, k=6, equal=1),
        sized("far below zero", rows=2, cols=260, k=9, negative=1),
        sized("nearly all shut out", rows=2, cols=90, k=20, masked=1),
        sized("the largest last", rows=1, cols=700, k=32, rising=1),
        sized("better than the last by a hair", rows=1, cols=TPB + 9, k=32, hair=1),
        sized("as many columns as may be", rows=1, cols=MOST, k=10),
        special("NaN and infinities", rows=3, cols=141, k=5),
        sized("several NaN", rows=2, cols=170, k=7, nans=1),
    ),
    random_case=lambda rng: sized(
        "sizes drawn at random",
        rows=int(rng.integers(2, 4)),
        cols=int(rng.integers(130, 500)),
        k=int(rng.integers(2, 33)),
    ),
    inputs=_inputs,
    large=lambda least_bytes: sized(
        "past L2", rows=blocks_to_cover(least_bytes, 4 * MOST), cols=MOST, k=32
    ),
    launches=lambda case: (Launch("top_k", case.sizes["rows"], TPB, ARGUMENTS),),
    reference=gives(_largest),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: _one_reading(case),
            "Each number has to come from memory once. What a thread has read it can keep, or drop "
            "for good: one that k others have beaten comes in no result.",
            "bytes loaded",
        ),
        NO_ATOMICS,
        *IN_ORDER,
        NO_FLOAT64,
    ),
    share=Share("Each thread writes at most one cell of each result."),
)

"""Rows of numbers that softmax has to come through, and what it is to make of them."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import eighths, sized
from gpu_course.puzzle.specification import Case, Values

WARPS = 4
TPB = 32 * WARPS
PEAKS = (32, 127, 0, 65, 98, 256)
"""Columns that a search for the largest may leave out: the first and last of a warp's."""


def row_cases(longest: int) -> tuple[Case, ...]:
    """Returns the cases of a softmax with a row for each warp.

    Args:
        longest: the columns of the longest rows.
    """
    return (
        sized("visible example", visible=True, rows=6, cols=100),
        sized("one cell", rows=1, cols=1),
        sized("one column", rows=6, cols=1),
        sized("31 columns", rows=3, cols=31, doublings=1),
        sized("exactly one each", rows=4, cols=32),
        sized("a number far above the others", rows=6, cols=longest, peaks=1),
        sized("33 columns far below zero", rows=5, cols=33, low=1),
        sized("equal numbers", rows=5, cols=70, ties=1),
        sized("as large as numbers get", rows=3, cols=70, doublings=123),
        sized("places shut out", rows=5, cols=261, infinite=1),
        sized("rows without a place", rows=6, cols=90, infinite=1, empty=1),
        sized("NaN and infinities", rows=7, cols=141, nan=1),
    )


def row_inputs(rng: np.random.Generator, case: Case) -> Values:
    """Returns x, and how many rows and columns it has."""
    rows, cols = case.sizes["rows"], case.sizes["cols"]
    x = eighths(rng, (rows, cols), case)
    if case.sizes.get("low"):
        x -= np.float32(500)
    if case.sizes.get("ties"):
        x = np.sign(x) * np.ceil(np.abs(x) / 8)
    if case.sizes.get("peaks"):
        x[np.arange(rows), PEAKS[:rows]] += np.float32(700)
    if case.sizes.get("infinite"):
        x[:, : cols // 2] = -np.inf  # whole warps of places
        x[0] = np.where(np.arange(cols) == cols - 1, x[0], -np.inf)
    if case.sizes.get("empty"):
        x[1] = x[rows - 1] = -np.inf
    if case.sizes.get("nan"):
        x[0, 0] = x[1, cols - 1] = np.nan
        x[3], x[3, 40] = -np.inf, np.nan
        x[4, 5], x[4, 70] = np.inf, -np.inf
        x[5], x[5, cols - 1] = -np.inf, np.inf
    return {"x": x, "rows": rows, "cols": cols}


def shares(x: np.ndarray) -> np.ndarray:
    """Returns the softmax of each row in float64; a row of nothing but minus infinity gets zeros.

    >>> shares(np.array([[0.0, 0.0], [-np.inf, 0.0], [-np.inf, -np.inf]])).tolist()
    [[0.5, 0.5], [0.0, 1.0], [0.0, 0.0]]
    """
    wide = x.astype(np.float64)
    with np.errstate(invalid="ignore"):  # infinity less infinity is NaN, and meant to be
        parts = np.exp(wide - np.maximum(wide.max(axis=1, keepdims=True), -np.finfo(float).max))
    total = parts.sum(axis=1, keepdims=True)
    return np.asarray(parts / np.where(total == 0, 1, total))

"""Inputs of the puzzles that ask something of every row: negative numbers, equal ones and NaN."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import eighths
from gpu_course.puzzle.specification import Case, Values

FEW = np.array([-3, -2, -1, 1, 2, 3], np.float32) / np.float32(8)


FROM_COLUMN_0 = 2
"""Of the size "lowest": a row that has a number at all begins with its largest."""


def rows_of_numbers(rng: np.random.Generator, case: Case) -> Values:
    """Returns inputs `a` and `cols` of a case with the sizes "rows" and "cols".

    Where a case has the size "negative", all numbers lie below 0; where it has "ties", there are
    only a few different ones; where it has "twins", the largest of a row stands there twice, and
    two warps meet one of them each; where it has "lowest", of three rows one holds nothing but
    -inf, one the lowest finite number as well, and one two that are nearly as low; where it has
    "nans", each row has that many NaN, every second
    one begins with a NaN, and the last row has nothing else.
    """
    rows, cols = case.sizes["rows"], case.sizes["cols"]
    a = eighths(rng, (rows, cols), case)
    if case.sizes.get("negative"):
        a = a - a.max() - np.float32(1 / 8)
        a[1:] -= np.float32(64)  # so that a number of row 0 is too large for the others
    if case.sizes.get("ties"):
        a = rng.choice(FEW, (rows, cols))
    if case.sizes.get("twins"):
        largest = a.max() + np.float32(1 / 8)
        for number, row in enumerate(a):
            # Of 128 threads, one is met by lane 0 or 16 of a later warp, the other by warp 0.
            later = 32 + 16 * (number // 2 % 6)
            other = rng.integers(128, 160) if number % 2 else rng.integers(0, 32)
            row[[later, other]] = largest
    if case.sizes.get("lowest"):
        a = np.full_like(a, -np.inf)
        a[1::3, cols // 2] = np.finfo(np.float32).min
        a[2::3, [cols // 3, -1]] = np.float32(-(2.0**101))
        if case.sizes["lowest"] == FROM_COLUMN_0:
            a[:, 0] = a.max(axis=1)
    if nans := case.sizes.get("nans", 0):
        for row in a:
            row[rng.choice(cols, min(nans, cols), replace=False)] = np.nan
        a[::2, 0] = np.nan
        a[-1] = np.nan
    return {"a": a, "cols": cols}

"""What each kernel puzzle of lesson 07 asks for, as loops in plain Python."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tests.course.puzzles.loops import Numbers, Table, repeats


def _columns(a: Table, rows: int, cols: int) -> list[Numbers]:
    return [[a[row][col] for row in range(rows)] for col in range(cols)]


def _rows(columns: list[Numbers], rows: int) -> Table:
    return [[column[row] for column in columns] for row in range(rows)]


@repeats
def no_float64(a: Table, rows: int, cols: int) -> dict[str, Any]:
    done = []
    for column in _columns(a, rows, cols):
        mean = sum(column) / rows
        spread = math.sqrt(sum((x - mean) ** 2 for x in column) / rows + 1e-5)
        done.append([(x - mean) / spread for x in column])
    return {"out": _rows(done, rows)}


def keep_it_in_registers(a: Table, rows: int, cols: int) -> dict[str, Any]:
    done = []
    for column in _columns(a, rows, cols):
        mean = sum(column) / rows
        done.append([x - mean for x in column])
    return {"out": _rows(done, rows)}


@repeats
def two_product(a: Numbers, b: Numbers, size: int) -> dict[str, Any]:
    """By exact fractions, then one rounding."""
    found: dict[str, list[float]] = {"p": [], "e": []}
    for i in range(size):
        with np.errstate(all="ignore"):
            p = float(np.float32(a[i]) * np.float32(b[i]))
            found["p"].append(p)
            if math.isfinite(p):
                # A float64 holds the difference as it is, so that nothing is rounded twice.
                rest = float(Fraction(a[i]) * Fraction(b[i]) - Fraction(p))
                lost = float(np.float32(rest))
                zero = Fraction(a[i]) * Fraction(b[i]) == Fraction(p)
                found["e"].append(0.0 if zero else lost)
            elif math.isinf(p) and math.isfinite(a[i]) and math.isfinite(b[i]):
                found["e"].append(-p)
            else:
                found["e"].append(math.nan)
    return found

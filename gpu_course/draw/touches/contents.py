"""What the cells of arrays hold, as far as the accesses of a launch tell, and how it is written."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from simt.report import Report, Touch

Contents = Mapping[str, Mapping[int, Any]]
"""Array -> flat cell number -> what stands there; a cell is left out where nobody knows."""

DIGITS = 3
"""Of a number that is too long to be written out."""


def cell_values(report: Report, steps: int | None = None, threads: int | None = None) -> Contents:
    """Returns what the cells of each array hold after so many accesses of a launch.

    A cell that is first read held that value from the beginning, whenever it is read. Of an array
    that every block or thread has for itself nothing is said, and nothing of one with an access
    whose values were not kept.

    Args:
        report: of a launch of at most 64 lanes; above, nothing is known.
        steps: how many of `report.touches` have happened; default all.
        threads: how many threads of the last of these; default all.
    """
    done = len(report.touches) if steps is None else steps
    held: dict[str, dict[int, Any]] = {}
    written: set[tuple[str, int]] = set()
    unknown: set[str] = set()
    for number, touch in enumerate(report.touches):
        if touch.values is None or (touch.space != "global" and report.launch.lanes > 1):
            unknown.add(touch.array)
            continue
        mine = held.setdefault(touch.array, {})
        many = threads if number == done - 1 else None
        for place, (cell, value) in enumerate(zip(touch.cells.tolist(), touch.values, strict=True)):
            key = touch.array, cell
            if cell < 0:
                continue
            if touch.kind == "read":
                if key not in written:
                    mine.setdefault(cell, value)
                continue
            written.add(key)
            if number < done and (many is None or place < many):
                mine[cell] = value
    return {array: cells for array, cells in held.items() if array not in unknown}


def value_of(touch: Touch, place: int) -> str:
    """Returns what one thread of an access read or wrote, "" where that was not kept."""
    return "" if touch.values is None else short(touch.values[place])


def short(value: Any, digits: int = DIGITS) -> str:
    """Returns a number in few characters: as it is, or rounded to some digits.

    >>> [short(each) for each in (3.0, 0.25, -1.5, 1e6, float("nan"), -12.625, 1000, 123456)]
    ['3', '0.25', '-1.5', '1e6', 'nan', '-12.6', '1000', '1.23e5']
    >>> short(-0.625, 2), short(1.5 - 2j), short(True)
    ('-0.62', '1.5-2j', 'True')
    """
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, complex | np.complexfloating):
        imaginary = short(value.imag, digits)
        sign = "" if imaginary.startswith("-") else "+"
        return f"{short(value.real, digits)}{sign}{imaginary}j"
    number = float(value)
    if not math.isfinite(number):
        return str(number)
    exact = _plain(repr(float(str(value))) if isinstance(value, np.floating) else repr(number))
    whole = str(int(number)) if number.is_integer() else exact
    fits = (each for each in (whole, _plain(f"{number:.17e}")) if len(each) <= digits + 2)
    return next(fits, _plain(f"{number:.{digits}g}"))


def is_rounded(value: Any, digits: int = DIGITS) -> bool:
    """True where `short` leaves digits out."""
    if isinstance(value, bool | np.bool_):
        return False
    if isinstance(value, complex | np.complexfloating):
        return is_rounded(value.real, digits) or is_rounded(value.imag, digits)
    number = float(value)
    written = float(short(value, digits)) if math.isfinite(number) else number
    return math.isfinite(number) and not math.isclose(written, number, rel_tol=1e-7)


def _plain(text: str) -> str:
    """Returns a number without what says nothing: 1e+06 is 1e6, 1.50e3 is 1.5e3."""
    mantissa, sign, exponent = text.partition("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(exponent)}" if sign else mantissa

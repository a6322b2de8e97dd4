"""What the stubs of lesson 31 promise of their input, and what holds it."""

from __future__ import annotations

from typing import Any

from gpu_course.puzzle.specification import Values
from tests.course.puzzles.promises import Promise, everywhere


def _powers(formula: Any) -> list[Any]:
    """The right sides of all powers in a formula."""
    if not isinstance(formula, tuple):
        return []
    operation, left, right = formula
    own = [right] if operation == "^" else []
    return own + _powers(left) + ([] if own else _powers(right))


def _names(formula: Any) -> set[str]:
    if isinstance(formula, str):
        return {formula}
    if not isinstance(formula, tuple):
        return set()
    return _names(formula[1]) | _names(formula[2])


def _positive(given: Values) -> bool:
    return all(float(cell) > 0 for cell in given["printed"].values())


def _once(given: Values) -> bool:
    for total, terms, _ in given["rules"]:
        cells = [total, *(cell for _, powers in terms for cell in powers)]
        if len(set(cells)) < len(cells):
            return False
    return True


PROMISES: dict[str, tuple[Promise, ...]] = {
    "dimensions": (
        everywhere(
            'The right side of "^" is a number',
            lambda given: all(isinstance(each, int | float) for each in _powers(given["formula"])),
        ),
        Promise(
            "which may be a fraction or below 0",
            lambda given: any(each < 0 for each in _powers(given["formula"])),
        ),
        Promise(
            "`units` may have names that the formula has not",
            lambda given: bool(set(given["units"]) - _names(given["formula"])),
        ),
    ),
    "find_the_slip": (
        everywhere("All are positive", _positive),
        everywhere("No cell stands in a rule twice", _once),
        Promise(
            "or a whole number, which is a count and exact",
            lambda given: any(isinstance(cell, int) for cell in given["printed"].values()),
        ),
    ),
    "relabel": (
        Promise("no runs or models at all", lambda given: not given["runs"]),
        Promise("no runs or models at all", lambda given: not given["models"]),
        Promise(
            "A tied table is counted once, and with more than one stage twice",
            lambda given: any(each["tied"] for each in given["models"].values()),
        ),
    ),
}

ALIKE = {"dimensions"}
"""A formula has a unit, or none: most are pure numbers, or nothing at all."""

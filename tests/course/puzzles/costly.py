"""Ways to make a right kernel cost more, and where each lesson keeps those for its budgets.

Those of a lesson are `tests/lessons/TOPIC/costly.py`: from (puzzle, counter of a budget) to changes
that leave the solution right and bring it past that budget.
"""

from __future__ import annotations

import importlib

from tests.course.puzzles.answers import Changes
from tests.course.puzzles.by_hand import SOLUTIONS

TOPICS = sorted(
    path.parent.name for path in (SOLUTIONS.parent / "tests" / "lessons").glob("*/costly.py")
)
"""The lessons each of whose budgets is gone past by some right kernel."""


def costly() -> dict[tuple[str, str], Changes]:
    """Returns the changes of all lessons."""
    found: dict[tuple[str, str], Changes] = {}
    for topic in TOPICS:
        found |= importlib.import_module(f"tests.lessons.{topic}.costly").COSTLY
    return found


def asks_back(cell: str, value: str) -> Changes:
    """A kernel that asks an atomic for what it has just stored."""
    indent = " " * 8
    line = f"out[{cell}] = {value}"
    lines = [line, f"old = cuda.atomic.max(out, {cell}, {value})", f"out[{cell}] = old"]
    return ((line, f"\n{indent}".join(lines)),)


def never_asks(cell: str, value: str) -> Changes:
    """A kernel with an atomic whose old number nobody wants."""
    indent = " " * 8
    line = f"out[{cell}] = {value}"
    return ((line, f"{line}\n{indent}cuda.atomic.max(out, {cell}, {value})"),)


def adds_nothing(line: str, cell: str) -> Changes:
    """A kernel with an atomic that adds 0 to the cell it has just stored."""
    indent = " " * (len(line) - len(line.lstrip()))
    return ((line, f"{line}\n{indent}cuda.atomic.add({cell}, float32(0))"),)


def shuffles_on(line: str, value: str, mask: str) -> Changes:
    """A kernel in which each lane asks itself for its own value, six times over."""
    indent = " " * (len(line) - len(line.lstrip()))
    more = f"for _ in range(6):\n{indent}    {value} = cuda.shfl_xor_sync({mask}, {value}, 0)"
    return ((line, f"{indent}{more}\n{line}"),)

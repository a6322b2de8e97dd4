"""Where each kernel puzzle stands as loops in plain Python, and what is marked there.

A lesson's loops are `tests/lessons/TOPIC/loops.py`: for each puzzle a function called like it. It
gets the puzzle's inputs by their names, arrays as lists, and gives lists by the names of the
outputs. What else the tests of the whole course must know of a puzzle is a mark on its loop.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

from gpu_course.puzzle import Puzzle

Numbers = list[float]
Table = list[list[float]]
Loop = TypeVar("Loop", bound=Callable[..., dict[str, Any]])


def loop_of(puzzle: Puzzle) -> Callable[..., dict[str, Any]]:
    """Returns the loop of a kernel puzzle."""
    topic = puzzle.lesson.partition("_")[2]
    module = importlib.import_module(f"tests.lessons.{topic}.loops")
    loop: Callable[..., dict[str, Any]] = getattr(module, puzzle.short_name)
    return loop


def repeats(loop: Loop) -> Loop:
    """Marks a puzzle that asks what becomes of equal numbers and of NaN."""
    loop.repeats = True  # type: ignore[attr-defined]
    return loop


def hears_other_blocks(loop: Loop) -> Loop:
    """Marks a puzzle whose answers hang on what other blocks do: its oracle is `by_turns`."""
    loop.hears_other_blocks = True  # type: ignore[attr-defined]
    return loop


def scaled(loop: Loop) -> Loop:
    """Marks a puzzle with numbers that are scaled, looked up in a table or not there at all."""
    loop.scaled = True  # type: ignore[attr-defined]
    return loop


def is_marked(puzzle: Puzzle, mark: Callable[[Loop], Loop]) -> bool:
    """True for a puzzle whose loop carries one of the marks above."""
    return getattr(loop_of(puzzle), mark.__name__, False)


def transposed(a: Table, rows: int, cols: int) -> dict[str, Any]:
    """What several lessons ask for."""
    return {"out": [[a[row][col] for row in range(rows)] for col in range(cols)]}

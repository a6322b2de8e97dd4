"""Answers that come close or are rarely given, each a solution with a change, lesson by lesson.

Those of a lesson are `tests/lessons/TOPIC/answers.py`, in tables from (puzzle, what it does):

* `RIGHT`: unusual, and it passes;
* `CLOSE`: with the reason or the diagnosis of its verdict;
* `FOR_ORDINARY_NUMBERS`: right for these alone, with the reason; it meets NaN or infinities;
* `LAZY`: right, and past a budget or a share;
* `IN_FLOAT64`: sums in float64, where the solution has none;
* `OTHERWISE_WRONG`: with the diagnosis, and words of a sentence that has to be true of it too.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from gpu_course.puzzle import index
from tests.course.puzzles.by_hand import SOLUTIONS

Changes = tuple[tuple[str, str], ...]
"""Pairs of a text of the solution and of what stands there instead, one after the other."""


def answers(table: str) -> dict[tuple[str, str], Any]:
    """Returns one table of all lessons together."""
    found: dict[tuple[str, str], Any] = {}
    for path in sorted((SOLUTIONS.parent / "tests" / "lessons").glob("*/answers.py")):
        module = importlib.import_module(f"tests.lessons.{path.parent.name}.answers")
        found |= getattr(module, table, {})
    return found


def written(puzzle: str, changes: Changes, folder: Path) -> Path:
    """Writes the solution with its changes, and returns the file."""
    text = (SOLUTIONS / f"{index.find(puzzle).name}.py").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    file = folder / f"{puzzle}.py"
    file.write_text(text, encoding="utf-8")
    return file

"""What the programs that lessons print for a cluster share: how many ranks run them, what is right.

What the program of a lesson is to return stands in `tests/lessons/TOPIC/program.py`, as `right`.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

RANKS = 2


def right(lesson: str, rank: int) -> Any:
    """Returns what the program of a lesson is to return on a rank."""
    topic = lesson.partition("_")[2]
    return importlib.import_module(f"tests.lessons.{topic}.program").right(rank)


def lessons_with_a_program() -> set[str]:
    """Returns the topics of the lessons whose tests say what their program returns."""
    return {
        path.parent.name for path in (Path(__file__).parents[1] / "lessons").glob("*/program.py")
    }

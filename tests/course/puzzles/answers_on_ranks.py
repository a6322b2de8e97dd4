"""Rows of answers on ranks: those of a lesson are `tests/lessons/TOPIC/answers_on_ranks.py`."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path

IN_FLOAT32 = "wrong-result: seven-digits"


@dataclass(frozen=True)
class Row:
    """An answer and what becomes of it.

    Attributes:
        puzzle: its last name.
        changes: (text of the solution, what stands there instead), one after the other.
        cases: parts of the names of cases that are run beside the example.
        verdict: "passed", or the reason and the diagnosis.
    """

    puzzle: str
    changes: tuple[tuple[str, str], ...]
    cases: tuple[str, ...] = ()
    verdict: str = "passed"


def rows() -> dict[str, Row]:
    """Returns the rows of all lessons by what the answer does.

    Raises:
        ValueError: two lessons have an answer of one name.
    """
    found: dict[str, Row] = {}
    for path in sorted((Path(__file__).parents[2] / "lessons").glob("*/answers_on_ranks.py")):
        module = importlib.import_module(f"tests.lessons.{path.parent.name}.{path.stem}")
        if twice := found.keys() & module.ROWS.keys():
            raise ValueError(f"{path}: {', '.join(twice)} stands in another lesson, too")
        found |= module.ROWS
    return found

"""What holds for every Python puzzle: its specification and its words."""

from __future__ import annotations

import pytest

from gpu_course.puzzle import PythonPuzzle, index
from tests.course.puzzles import python_rules

PUZZLES = {p.short_name: p for p in index.puzzles() if isinstance(p, PythonPuzzle)}


@pytest.mark.parametrize("rule", python_rules.rule_names())
@pytest.mark.parametrize("name", PUZZLES)
def test_the_specification_holds_together(name: str, rule: str) -> None:
    python_rules.load(rule)(PUZZLES[name])

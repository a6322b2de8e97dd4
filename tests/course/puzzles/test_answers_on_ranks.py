"""Answers on ranks that people hand in: right in an unusual way, or lazy, or wrong in a close one.

Each row changes a solution; a lesson's rows stand beside its other tests. To save time a row runs
the example and the cases that it names.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_course.grading.check import check
from gpu_course.grading.python.cases import part_of
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.isolation import servers
from gpu_course.puzzle import PythonPuzzle, index
from tests.course.puzzles.answers_on_ranks import Row, rows
from tests.course.puzzles.by_hand import SOLUTIONS

NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)
PUZZLES = {p.short_name: p for p in index.puzzles() if isinstance(p, PythonPuzzle)}


def text_of(row: Row) -> str:
    """Returns the solution with the changes of a row."""
    text = (SOLUTIONS / f"{PUZZLES[row.puzzle].name}.py").read_text(encoding="utf-8")
    for old, new in row.changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def verdict_on(row: Row, folder: Path) -> Verdict:
    """Returns the verdict on the answer of a row."""
    puzzle = PUZZLES[row.puzzle]
    path = folder / f"{row.puzzle}.py"
    path.write_text(text_of(row), encoding="utf-8")
    named = [c for c in puzzle.cases if any(part in c.name for part in row.cases)]
    assert len(named) >= len(row.cases)
    few = replace(puzzle, cases=(puzzle.cases[0], *named))
    return check(few if row.cases else puzzle, answer=str(path), seed=0)


ROWS = rows()

ON_RANKS = [p for p in PUZZLES.values() if p.ranks is not None]
NOT_FINITE = re.compile(r"\bNaN\b|\binfinit|-inf\b")
EMPTY = re.compile(r"\b(no|fewer|less|none|nothing|be 0)\b")


def arrays_of(value: Any) -> list[np.ndarray]:
    """Returns the arrays of float64 within the inputs of one rank."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [array for each in value for array in arrays_of(each)]
    return [value] if isinstance(value, np.ndarray) and value.dtype == np.float64 else []


@pytest.mark.parametrize("puzzle", ON_RANKS, ids=lambda puzzle: puzzle.short_name)
def test_what_a_statement_promises_of_numbers_is_what_the_cases_hold(puzzle: PythonPuzzle) -> None:
    said = ast.get_docstring(ast.parse((SOLUTIONS / f"{puzzle.name}.py").read_text("utf-8"))) or ""
    assert "finite" in said or NOT_FINITE.search(said)
    held = []
    for case in puzzle.cases:
        inputs = puzzle.inputs(np.random.default_rng(1), case)
        for rank in range(puzzle.ranks(case) if puzzle.ranks else 1):
            held += arrays_of(part_of(inputs, rank))
    finite = all(np.isfinite(array).all() for array in held)
    assert finite is (NOT_FINITE.search(said) is None)
    assert EMPTY.search(said) or all(array.size for array in held)


@NEEDS_RANKS
@pytest.mark.parametrize("name", ROWS)
def test_an_answer_ends_as_it_should(name: str, tmp_path: Path) -> None:
    verdict = verdict_on(ROWS[name], tmp_path)
    found = "passed" if verdict.status == "passed" else f"{verdict.reason}: {verdict.diagnosis}"
    assert found == ROWS[name].verdict, verdict.message

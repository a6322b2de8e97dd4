"""What a pass of an answer in Python says beyond its points."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_course import check
from gpu_course.grading.python import messages
from gpu_course.grading.python.answers import PythonAnswer
from gpu_course.grading.python.cases import Tried
from gpu_course.puzzle import Debrief
from gpu_course.puzzle.harness.refusing import REFUSED
from tests.gpu_course.grading import python_toy

ROOT = Path(__file__).parents[4]


def test_a_pass_in_python_shows_the_visible_example(tmp_path: Path) -> None:
    path = tmp_path / "cover.py"
    path.write_text(python_toy.RIGHT)
    told = Debrief(("result",), "One. Two.", "Three.")
    verdict = check(replace(python_toy.COVER, debrief=told), answer=path, seed=0)
    assert verdict.message.splitlines()[1:] == [
        "  yours:  visible example (cells 10): returned 3",
        "  why:    One. Two.",
        "  other:  Three.",
    ]


def test_a_pass_in_python_names_no_size_that_the_statement_has_no_word_for(tmp_path: Path) -> None:
    path = tmp_path / "cover.py"
    path.write_text(python_toy.RIGHT)
    told = Debrief(("result",), "One. Two.", "Three.")
    seen = [("Cells, and a block.", " (block 4)"), ("How many?", "")]
    for statement, sizes in seen:
        puzzle = replace(python_toy.COVER, debrief=told, statement=statement)
        line = check(puzzle, answer=path, seed=0).message.splitlines()[1]
        assert line == f"  yours:  visible example{sizes}: returned 3"


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("result", 4, "returned 4"),
        ("peak_bytes", 24232, "peak bytes 24,232"),
        ("result", (288, 296), "returned (288, 296)"),
        ("result", {"masks": 1920, "wide": 0}, "masks 1,920, wide 0"),
        ("schedule", [("forward", 0)] * 14, "a schedule of 14 operations"),
        ("learns", True, "learns True"),
    ],
)
def test_measurements_in_words(name: str, value: object, text: str) -> None:
    assert messages._measured(name, value) == text


def test_a_pass_shows_six_digits_of_each_number_also_inside_pairs() -> None:
    found = check("run_cost", answer=str(ROOT / "solutions/33_across_oceans/run_cost.py"), seed=0)
    assert found.passed, found.message
    (said,) = (each for each in found.sections if each.label == "yours")
    results = " ".join(said.lines).partition("): ")[2]
    assert results.count("[") == 4 and not re.search(r"\d[.]?\d{6}", results), results


@pytest.mark.parametrize(
    ("expected", "asks"),
    [
        ({"result": "ValueError"}, True),
        ({"result": ("ValueError",) * 3}, True),
        ({"refused": [["ValueError", "ValueError"]]}, True),
        ({"result": 3}, False),
        ({"bytes": [2, "ValueError"]}, False),
        ({"result": np.ones(2)}, False),
    ],
)
def test_another_error_than_the_one_that_is_asked_for_is_told_as_that(
    expected: dict[str, Any], asks: bool
) -> None:
    tried = Tried(python_toy.COVER.cases[0], {"cells": 1, "block": 1}, expected)
    error = {"type": "AssertionError", "text": "", "frames": [], "memory": False}
    said = messages.raised(python_toy.COVER, PythonAnswer("", "cover.py"), tried, error)
    (why,) = (" ".join(each.lines) for each in said if each.label == "why")
    assert why.startswith("Here a ValueError is the right answer" if asks else "Your code raised")


GLOOS_LAST_WORDS = """terminate called after throwing an instance of 'gloo::EnforceNotMet'
  what():  [enforce fail at /__w/gloo/transport/tcp/pair.cc:456] {}
"""


def test_what_gloo_says_of_sizes_is_not_what_the_answer_printed() -> None:
    # The verdict says who sends how much to whom.
    answer = PythonAnswer("", "shift.py")
    sizes = GLOOS_LAST_WORDS.format("op.preamble.length <= op.nbytes. 192 vs 128. Received data")
    assert messages.without_stack(f"before\n{sizes}after\n", answer) == ("before\nafter", [])
    other = GLOOS_LAST_WORDS.format("something else")
    assert messages.without_stack(f"before\n{other}", answer) == (f"before\n{other}".rstrip(), [])


@pytest.mark.parametrize(
    ("expected", "refused"),
    [
        ({"result": REFUSED}, True),
        ({"result": [REFUSED, [REFUSED]]}, True),
        ({"result": [REFUSED, 3]}, False),
        ({"result": 3}, False),
        # What the puzzle judges by itself has nothing that is expected.
        ({}, False),
        ({"result": []}, False),
    ],
)
def test_a_value_error_is_asked_for_where_each_call_expects_one(
    expected: dict[str, Any], refused: bool
) -> None:
    assert Tried(python_toy.ORDER.cases[0], {"items": 4}, expected).is_to_be_refused is refused


def test_an_error_in_what_a_puzzle_judges_itself_is_told_by_its_name() -> None:
    text = "def order(items):\n    return [0, 1][items]\n"
    verdict = check(python_toy.ORDER, answer=text, seed=0)
    assert "The index lies outside" in " ".join(verdict.message.split())
    assert "ValueError" not in verdict.message

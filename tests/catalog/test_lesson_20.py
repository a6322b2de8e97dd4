"""The puzzles of lesson 20: in order, their references against counts done otherwise."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from gpu_course.catalog.harness import Unusable
from gpu_course.catalog.lesson_20_smaller_states import LESSON
from gpu_course.catalog.specification import PythonPuzzle
from gpu_course.grading import compare
from gpu_course.grading.python_cases import own_diagnosis, prepare
from tests.catalog import python_rules
from tests.catalog.by_hand import SOLUTIONS

PUZZLES = {puzzle.short_name: puzzle for puzzle in LESSON.puzzles}


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"answer_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def first_failure(puzzle: PythonPuzzle, answer: ModuleType) -> tuple[str, str | None] | None:
    """Returns (reason, diagnosis) of an answer, without the grader's child."""
    harness = importlib.import_module(f"gpu_course.catalog.harness.{puzzle.harness}")
    dear = None
    for case in puzzle.cases:
        tried = prepare(puzzle, case, 0)
        inputs: Any = {
            name: value.copy() if isinstance(value, np.ndarray) else value
            for name, value in tried.inputs.items()
        }
        try:
            got = harness.run(answer, **inputs)
        except Unusable as unusable:
            return "wrong-result", unusable.key
        for name, expected in tried.expected.items():
            if compare.first_difference(got[name], expected, puzzle.tolerance, name):
                return "wrong-result", own_diagnosis(puzzle, tried, got)
        finding = puzzle.judge(dict(tried.inputs), case, got) if puzzle.judge else None
        if finding is not None and finding.reason == "wrong-result":
            return finding.reason, finding.key
        dear = dear or finding
    return dear and (dear.reason, dear.key)


def test_the_lesson_brings_its_puzzles() -> None:
    assert list(PUZZLES) == [
        "galore_project",
        "galore_adam",
        "lora",
        "block_quantise_state",
        "shared_layers",
    ]


@pytest.mark.parametrize("rule", python_rules.rule_names())
@pytest.mark.parametrize("name", PUZZLES)
def test_every_puzzle_keeps_the_rules(name: str, rule: str) -> None:
    python_rules.load(rule)(PUZZLES[name])


@pytest.mark.parametrize("name", PUZZLES)
def test_solutions_are_right_and_mistakes_are_told_apart(name: str) -> None:
    puzzle = PUZZLES[name]
    right = loaded(SOLUTIONS / f"{puzzle.name}.py")
    assert first_failure(puzzle, right) is None
    wrong = loaded(SOLUTIONS / puzzle.lesson / "mistakes" / f"{name}.py")
    for mistake in puzzle.mistakes:
        answer = ModuleType("answer")
        for function in puzzle.functions:
            setattr(answer, function, getattr(right, function))
        stands_for = mistake.stands_for or puzzle.functions[0]
        setattr(answer, stands_for, getattr(wrong, mistake.function))
        assert first_failure(puzzle, answer) == (mistake.reason, mistake.diagnosis), mistake


@pytest.mark.parametrize("name", PUZZLES)
def test_every_diagnosis_belongs_to_a_mistake(name: str) -> None:
    puzzle = PUZZLES[name]
    own = {mistake.diagnosis for mistake in puzzle.mistakes}
    assert set(puzzle.diagnoses) - own <= {"first-pass-only", "large-state"}


def test_galores_reference_agrees_with_one_in_plain_numpy() -> None:
    from gpu_course.catalog.smaller_states.galore import _otherwise

    puzzle = PUZZLES["galore_adam"]
    for case in python_rules.cases_and_random(puzzle):
        inputs = puzzle.inputs(np.random.default_rng(3), case)
        expected = puzzle.reference(inputs, case)["weight"]
        np.testing.assert_allclose(_otherwise(inputs), expected, rtol=1e-9)


def test_codes_agree_with_the_courses_own() -> None:
    import torch

    from gpu_course.training.quantised_states import dequantise, quantise

    puzzle = PUZZLES["block_quantise_state"]
    for case in python_rules.cases_and_random(puzzle):
        inputs = puzzle.inputs(np.random.default_rng(5), case)
        expected = puzzle.reference(inputs, case)
        block, power = inputs["block"], inputs["power"]
        codes, scales = quantise(torch.from_numpy(inputs["values"]), block, power)
        np.testing.assert_array_equal(codes.numpy(), expected["codes"])
        np.testing.assert_allclose(scales.numpy(), expected["scales"], rtol=1e-6)
        back = dequantise(codes, scales, block, power)
        np.testing.assert_allclose(back.numpy(), expected["restored"], rtol=1e-5)

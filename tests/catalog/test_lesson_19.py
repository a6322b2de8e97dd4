"""The puzzles of lesson 19: in order, their references against counts done otherwise."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from gpu_course.catalog.harness import Unusable
from gpu_course.catalog.lesson_19_forward_gradients import LESSON
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


def outcome(puzzle: PythonPuzzle, answer: ModuleType, inputs: dict[str, Any]) -> dict[str, Any]:
    if puzzle.harness:
        harness = importlib.import_module(f"gpu_course.catalog.harness.{puzzle.harness}")
        return harness.run(answer, **inputs)
    function = puzzle.functions[0]
    return {"result": getattr(answer, function)(*(inputs[p] for p in puzzle.parameters[function]))}


def first_failure(puzzle: PythonPuzzle, answer: ModuleType) -> tuple[str, str | None] | None:
    """Returns (reason, diagnosis) of an answer, without the grader's child."""
    dear = None
    for case in puzzle.cases:
        tried = prepare(puzzle, case, 0)
        inputs: Any = {
            name: value.copy() if isinstance(value, np.ndarray) else value
            for name, value in tried.inputs.items()
        }
        try:
            got = outcome(puzzle, answer, inputs)
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
    assert list(PUZZLES) == ["forward_gradient", "variance_law", "k_directions"]


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
    assert set(puzzle.diagnoses) == own


@pytest.mark.parametrize("directions", ["normal", "signs", "right angles"])
def test_the_law_is_what_many_draws_give(directions: str) -> None:
    import torch

    from gpu_course.catalog.forward_gradients.variance import covariance
    from gpu_course.training.forward_gradients import spread_out, total_variance

    gradient, k, d = [1.5, -2.0, 0.5, 3.0], 2, 4
    generator = torch.Generator().manual_seed(0)
    normals = torch.randn(6_000, k, d, generator=generator, dtype=torch.float64)
    frames = {
        "normal": normals,
        "signs": normals.sign(),
        "right angles": torch.stack([spread_out(each) for each in normals])
        if directions == "right angles"
        else normals,
    }[directions]
    g = torch.tensor(gradient, dtype=torch.float64)
    estimates = ((frames @ g)[..., None] * frames).mean(1)
    exact = covariance(gradient, k, directions)
    spread = float(np.abs(exact).max())
    assert np.abs(np.cov(estimates.numpy().T) - exact).max() < 0.1 * spread
    assert np.abs(estimates.mean(0).numpy() - gradient).max() < 0.1 * spread**0.5
    assert total_variance(gradient, k, directions) == pytest.approx(np.trace(exact))

"""Answers to Python puzzles, run with their harness in this process, not in the grader's child."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.catalog.harness import Unusable
from gpu_course.catalog.specification import PythonPuzzle
from gpu_course.grading import compare
from gpu_course.grading.python.cases import own_diagnosis, prepare
from tests.catalog.by_hand import SOLUTIONS


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
            if puzzle.follow is not None:
                got = puzzle.follow(dict(tried.inputs), case, got)
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


def assert_solution_and_mistakes_are_told_apart(puzzle: PythonPuzzle) -> None:
    """The solution passes every case, and each mistake ends as the catalogue says."""
    right = loaded(SOLUTIONS / f"{puzzle.name}.py")
    assert first_failure(puzzle, right) is None
    wrong = loaded(SOLUTIONS / puzzle.lesson / "mistakes" / f"{puzzle.short_name}.py")
    for mistake in puzzle.mistakes:
        answer = ModuleType("answer")
        for function in puzzle.functions:
            setattr(answer, function, getattr(right, function))
        stands_for = mistake.stands_for or puzzle.functions[0]
        setattr(answer, stands_for, getattr(wrong, mistake.function))
        assert first_failure(puzzle, answer) == (mistake.reason, mistake.diagnosis), mistake

"""Answers to Python puzzles, run with their harness in this process, not in the grader's child."""

from __future__ import annotations

import ast
import importlib
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.puzzle.harness import Unusable
from gpu_course.puzzle.specification import Case, PythonPuzzle
from tests.course.puzzles.by_hand import SOLUTIONS

ROOT = Path(__file__).parents[3]


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"answer_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ANSWERS = {
    "gpu_course.measure.schedules.plans",
    *(
        f"gpu_course.lessons.optimal_checkpointing.{module}"
        for module in ("comparison", "dynamic_program", "exhaustive", "pareto")
    ),
}
"""Modules that hold the answer to a puzzle on schedules."""


def imported_by(harness: str) -> set[str]:
    """Returns the course's modules a harness imports, and those that these import."""
    seen: set[str] = set()
    to_read = [harness]
    while to_read:
        path = (ROOT / to_read.pop().replace(".", "/")).with_suffix(".py")
        if not path.is_file():
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                found = {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
                new = {name for name in found if name.startswith("gpu_course.")} - seen
                seen |= new
                to_read += new
    return seen


def answer_of(puzzle: PythonPuzzle, mistake: str = "") -> ModuleType:
    """Returns a solution, or the same with one of its named mistakes in the first place."""
    texts = [SOLUTIONS / f"{puzzle.name}.py"]
    if mistake:
        texts.append(SOLUTIONS / puzzle.lesson / "mistakes" / f"{puzzle.short_name}.py")
    answer = ModuleType("answer")
    for path in texts:
        exec(compile(path.read_text(encoding="utf-8"), path.name, "exec"), answer.__dict__)
    if mistake:
        setattr(answer, puzzle.functions[0], getattr(answer, mistake))
    return answer


def outcome(puzzle: PythonPuzzle, answer: ModuleType, inputs: dict[str, Any]) -> dict[str, Any]:
    """Returns what an answer gives for inputs, and what following it took where it is followed."""
    if not puzzle.harness:
        function = puzzle.functions[0]
        given = (inputs[name] for name in puzzle.parameters[function])
        return {"result": getattr(answer, function)(*given)}
    got = importlib.import_module(puzzle.harness).run(answer, **inputs)
    return puzzle.follow(inputs, puzzle.cases[0], got) if puzzle.follow else got


def verdict(puzzle: PythonPuzzle, answer: ModuleType, case: Case) -> tuple[str, str | None] | None:
    """Returns (reason, diagnosis) of one case as the grader would, or None where it passes."""
    inputs = puzzle.inputs(np.random.default_rng(4), case)
    expected = puzzle.reference(inputs, case)
    try:
        got = outcome(puzzle, answer, inputs)
    except Unusable as unusable:
        return "wrong-result", unusable.key
    for name, value in expected.items():
        if not np.array_equal(value, got[name]):
            return "wrong-result", puzzle.diagnose and puzzle.diagnose(inputs, case, expected, got)
    finding = puzzle.judge(inputs, case, got) if puzzle.judge else None
    return (finding.reason, finding.key) if finding else None

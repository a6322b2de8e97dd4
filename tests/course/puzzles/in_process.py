"""Answers to Python puzzles, run with their harness in this process, not in the grader's child."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from gpu_course.puzzle.specification import PythonPuzzle


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"answer_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def outcome(puzzle: PythonPuzzle, answer: ModuleType, inputs: dict[str, Any]) -> dict[str, Any]:
    if puzzle.harness:
        harness = importlib.import_module(f"gpu_course.puzzle.harness.{puzzle.harness}")
        return harness.run(answer, **inputs)
    function = puzzle.functions[0]
    return {"result": getattr(answer, function)(*(inputs[p] for p in puzzle.parameters[function]))}

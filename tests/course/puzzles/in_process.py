"""Answers to Python puzzles, run with their harness in this process, not in the grader's child."""

from __future__ import annotations

import ast
import importlib
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from gpu_course.puzzle.specification import PythonPuzzle

ROOT = Path(__file__).parents[3]


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"answer_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


def outcome(puzzle: PythonPuzzle, answer: ModuleType, inputs: dict[str, Any]) -> dict[str, Any]:
    if puzzle.harness:
        harness = importlib.import_module(puzzle.harness)
        return harness.run(answer, **inputs)
    function = puzzle.functions[0]
    return {"result": getattr(answer, function)(*(inputs[p] for p in puzzle.parameters[function]))}

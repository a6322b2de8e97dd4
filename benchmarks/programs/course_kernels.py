"""Every kernel of the course, with a launch of it: all solutions and all named mistakes."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gpu_course.puzzle import KernelPuzzle, Launch
from gpu_course.puzzle.index import puzzles

SOLUTIONS = Path(__file__).parents[2] / "solutions"


def kernels() -> Iterator[tuple[str, Path, str, Launch, list[Any]]]:
    """Yields (key, file, function, launch, arguments) of every solution and named mistake."""
    for puzzle in puzzles():
        if not isinstance(puzzle, KernelPuzzle):
            continue
        case = puzzle.cases[0]
        inputs = puzzle.inputs(np.random.default_rng(0), case)
        values = {**inputs, **puzzle.outputs(inputs, case)}
        for launch in puzzle.launches(case):
            for path, function in _files(puzzle, launch):
                arguments = [_copy(values[name]) for name in launch.args]
                yield f"{puzzle.name}:{function}", path, function, launch, arguments


def load(path: Path, function: str) -> Callable[..., Any]:
    """Returns a kernel of a file as a plain function; the file is executed."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = getattr(module, function)
    return getattr(kernel, "py_func", kernel)  # type: ignore[no-any-return]


def _files(puzzle: KernelPuzzle, launch: Launch) -> Iterator[tuple[Path, str]]:
    yield SOLUTIONS / f"{puzzle.name}.py", launch.function
    for mistake in puzzle.mistakes:
        if (mistake.stands_for or puzzle.functions[0]) == launch.function:
            path = SOLUTIONS / puzzle.lesson / "mistakes" / f"{puzzle.short_name}.py"
            yield path, mistake.function


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value

"""From what a learner hands in to the kernels a puzzle asks for: read, never executed."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.grading import answer_file, workspace
from gpu_course.grading.answer_file import missing_function
from gpu_course.grading.python.answers import python_mistake
from gpu_course.puzzle import Mistake, Puzzle, PythonPuzzle
from simt.kernel import source
from simt.kernel.source import Kernel


@dataclass(frozen=True)
class Answer:
    """The kernels of an answer, by the names the puzzle calls them."""

    kernels: Mapping[str, Kernel]


def read_answer(puzzle: Puzzle, answer: Any = None) -> Answer:
    """Returns the kernels of an answer to a puzzle.

    Args:
        puzzle: the puzzle.
        answer: None for the learner's own file; the path of a file or of a folder of answers;
            "file.py:function"; a function, a Numba dispatcher or a Kernel; for a puzzle of several
            functions a dict, a sequence or a module of them.

    Raises:
        AnswerProblem: the answer is the stub, is missing or cannot be used.
        KernelRefused: a kernel is refused, with its line.
        CourseError: `answer` is none of these things.
    """
    if answer is None:
        return _from_file(puzzle, workspace.answer_path(puzzle), own=True)
    if is_path(answer):
        return _from_file(puzzle, answer_file.path_of(puzzle, answer), own=False)
    found = {name: _kernel(value) for name, value in _by_function(puzzle, answer).items()}
    for name, kernel in found.items():
        _refuse_other_constants(puzzle, kernel, kernel.scope, {})
        _refuse_other_parameters(puzzle, name, kernel)
    return Answer(found)


def is_path(answer: Any) -> bool:
    """True for an answer that is a file: None, the learner's own; or a path."""
    named = isinstance(answer, str | os.PathLike) and ".py:" not in str(answer)
    return answer is None or named


def mistake_answer(puzzle: Puzzle, mistake: Mistake, solutions: Path) -> Any:
    """Returns the solution of a puzzle with one function replaced by a named mistake.

    That is {name: Kernel} for a kernel puzzle, a PythonAnswer for a Python puzzle.

    Args:
        puzzle: the puzzle.
        mistake: one of its mistakes.
        solutions: the folder with NN_topic/name.py and NN_topic/mistakes/name.py.
    """
    if isinstance(puzzle, PythonPuzzle):
        return python_mistake(puzzle, mistake, solutions)
    right = source.load(solutions / f"{puzzle.name}.py")
    wrong = source.load(solutions / puzzle.lesson / "mistakes" / f"{puzzle.short_name}.py")
    kernels = {name: right.kernel(name) for name in puzzle.functions}
    kernels[mistake.stands_for or puzzle.functions[0]] = wrong.kernel(mistake.function)
    return kernels


def _from_file(puzzle: Puzzle, path: Path, own: bool) -> Answer:
    answer_file.text_of(puzzle, path, own=own, write="your kernel")
    module = source.load(path)
    kernels = {name: _defined(puzzle, module, name) for name in puzzle.functions}
    _refuse_other_constants(
        puzzle, kernels[puzzle.functions[0]], module.names.__getitem__, module.constant_lines
    )
    for name, kernel in kernels.items():
        _refuse_other_parameters(puzzle, name, kernel)
        if not kernel.decorated:
            raise kernel.refuse(
                kernel.tree,
                f"{name} is a plain function; a GPU runs what is compiled by cuda.jit",
                f"write @cuda.jit on the line above def {name}",
            )
    return Answer(kernels)


def _defined(puzzle: Puzzle, module: source.Module, name: str) -> Kernel:
    try:
        return module.kernel(name)
    except KeyError:
        pass
    if not module.functions:
        fact = f"{module.file} defines no function; {name} is missing"
    else:
        fact = f"{module.file} defines no function {name}; it has {', '.join(module.functions)}"
    takes = ", ".join(puzzle.parameters[name])
    step = f"define it at the top level of the file: def {name}({takes})"
    spare = [f for f in module.functions if f not in puzzle.functions]
    close = difflib.get_close_matches(name, spare, n=1)
    if close:
        line = module.kernel(close[0]).tree.lineno
        step = f"did you mean {close[0]} in line {line}? The name must be {name}"
    elif name in module.names:
        step = f"{name} is there, but not defined by def: " + step
    raise missing_function(fact, step)


def _refuse_other_parameters(puzzle: Puzzle, name: str, kernel: Kernel) -> None:
    wanted = puzzle.parameters[name]
    arguments = kernel.tree.args
    text = f"def {kernel.name}({', '.join(wanted)})"
    if (
        arguments.vararg
        or arguments.kwarg
        or arguments.kwonlyargs
        or arguments.posonlyargs
        or arguments.defaults
    ):
        raise kernel.refuse(
            kernel.tree, f"{kernel.name} must take plain parameters only", f"write {text}"
        )
    if len(kernel.parameters) != len(wanted):
        own = ", ".join(kernel.parameters) or "none"
        raise kernel.refuse(
            kernel.tree,
            f"{kernel.name} has {len(kernel.parameters)} parameters ({own}); it is launched with "
            f"{len(wanted)} ({', '.join(wanted)})",
            f"write {text}",
        )


def _refuse_other_constants(
    puzzle: Puzzle, kernel: Kernel, look_up: Any, lines: Mapping[str, int]
) -> None:
    for name, value in puzzle.constants.items():
        try:
            found = look_up(name)
        except KeyError:
            continue
        if type(found) is not type(value) or found != value:
            said = "another value" if isinstance(found, source.Unknown) else repr(found)
            raise kernel.refuse(
                lines.get(name, kernel.tree),
                f"{name} is fixed at {value} in this puzzle, and this file makes it {said}",
                f"write {name} = {value}; the launch relies on it",
            )


def _by_function(puzzle: Puzzle, answer: Any) -> dict[str, Any]:
    names = puzzle.functions
    if isinstance(answer, Mapping):
        found = dict(answer)
    elif isinstance(answer, ModuleType) or (
        not callable(answer) and any(hasattr(answer, name) for name in names)
    ):
        found = {name: getattr(answer, name) for name in names if hasattr(answer, name)}
    elif isinstance(answer, Sequence) and not isinstance(answer, str):
        found = {getattr(_plain(f), "__name__", getattr(f, "name", "")): f for f in answer}
    elif len(names) == 1:
        found = {names[0]: answer}
    else:
        found = {getattr(_plain(answer), "__name__", ""): answer}
    missing = [name for name in names if name not in found]
    if missing:
        raise CourseError(
            f"{puzzle.name} asks for {', '.join(names)}; {', '.join(missing)} is not there",
            "pass a dict {name: function}",
        )
    return {name: found[name] for name in names}


def _plain(function: Any) -> Any:
    return getattr(function, "py_func", function)


def _kernel(value: Any) -> Kernel:
    if isinstance(value, Kernel):
        return value
    if isinstance(value, str) and ".py:" in value:
        file, _, name = value.rpartition(":")
        module = source.load(file)
        if name not in module.functions:
            raise CourseError(
                f"{module.file} defines no function {name}",
                f"it has {', '.join(module.functions) or 'none'}",
            )
        return module.kernel(name)
    return source.from_function(value)

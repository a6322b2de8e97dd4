"""Runs a learner's answer on real ranks, outside of its check."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.grading.answer_problem import AnswerProblem
from gpu_course.grading.python.answers import read_python_answer
from gpu_course.puzzle import PythonPuzzle, index
from gpu_course.ranks import runner
from gpu_course.ranks.runner import Run


def ranked_puzzle(name: str) -> PythonPuzzle:
    """Returns a puzzle whose answer runs on ranks.

    Raises:
        CourseError: the puzzle is none of these.
    """
    puzzle = index.find(name)
    if not isinstance(puzzle, PythonPuzzle) or puzzle.ranks is None:
        raise CourseError(f"{puzzle.name} does not run on ranks", "name a puzzle that does")
    return puzzle


def own_text(name: str) -> str:
    """Returns the learner's answer to a puzzle in Python.

    Raises:
        CourseError: there is none, or it cannot be read, or the puzzle asks for kernels.
    """
    puzzle = index.find(name)
    if not isinstance(puzzle, PythonPuzzle):
        raise CourseError(f"{puzzle.name} asks for kernels", "name a puzzle in Python")
    try:
        return read_python_answer(puzzle).text
    except AnswerProblem as problem:
        raise problem.error() from None


def run_own(name: str, ranks: int, tail: str, **arguments: Any) -> Run:
    """Runs the learner's answer on ranks, through a function `course_main` that ends its file.

    Args:
        name: of the puzzle.
        ranks: how many.
        tail: what ends the file; it defines `course_main`, which each rank calls.
        arguments: of `course_main`.
    """
    text = f"{own_text(name)}\n\n\n{tail}"
    return run_text(text, f"{ranked_puzzle(name).short_name}.py", ranks, **arguments)


def run_text(text: str, file: str, on: int, /, **arguments: Any) -> Run:
    """Runs `course_main` of a text on ranks.

    Args:
        text: of a Python file.
        file: what it is called in messages.
        on: how many ranks.
        arguments: of `course_main`.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        path.write_text(text, encoding="utf-8")
        return runner.run(path, on, "course_main", arguments)

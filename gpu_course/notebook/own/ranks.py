"""Runs a learner's answer on real ranks, outside of its check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.grading.answer_file import AnswerProblem
from gpu_course.grading.python.answers import read_python_answer
from gpu_course.puzzle import PythonPuzzle, index
from gpu_course.ranks.runner import Run, Source, run_with


def ranked_puzzle(name: str) -> PythonPuzzle:
    """Returns a puzzle whose answer runs on ranks.

    Raises:
        CourseError: the puzzle is none of these.
    """
    puzzle = index.find(name)
    if not isinstance(puzzle, PythonPuzzle) or puzzle.ranks is None:
        raise CourseError(f"{puzzle.name} does not run on ranks", "name a puzzle that does")
    return puzzle


def own_source(name: str) -> Source:
    """Returns the learner's answer to a puzzle in Python.

    Raises:
        CourseError: there is none, or it cannot be read, or the puzzle asks for kernels.
    """
    puzzle = index.find(name)
    if not isinstance(puzzle, PythonPuzzle):
        raise CourseError(f"{puzzle.name} asks for kernels", "name a puzzle in Python")
    try:
        text = read_python_answer(puzzle).text
    except AnswerProblem as problem:
        raise problem.error() from None
    return Source(f"{puzzle.short_name}.py", text, puzzle.functions)


def run_own(
    names: str | Sequence[str], program: Callable[..., Any], on: int, /, **given: Any
) -> Run:
    """Returns what a function of the course came to on ranks, handed the learner's answers.

    Args:
        names: of one puzzle, or of several.
        program: takes the answers' modules first.
        on: how many ranks.
        given: what else it takes.

    Raises:
        CourseError: an answer cannot be read, or the run came to no end.
    """
    asked = [names] if isinstance(names, str) else names
    return run_with([own_source(name) for name in asked], program, on, given)

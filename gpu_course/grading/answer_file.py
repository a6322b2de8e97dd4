"""The text of an answer's file, and why an answer cannot be run, whatever it is written in."""

from __future__ import annotations

import os
from pathlib import Path

from gpu_course.errors import AnswerFileError, CourseError
from gpu_course.grading import workspace
from gpu_course.puzzle import Puzzle
from simt.kernel import source


class AnswerProblem(Exception):
    """An answer that cannot be run: what the verdict is to say instead.

    Args:
        fact: what is the matter.
        step: what to try, or "".
        status, reason, diagnosis: as in Verdict.
    """

    def __init__(
        self, fact: str, step: str, *, status: str, reason: str | None, diagnosis: str | None
    ) -> None:
        self.fact = fact
        self.step = step
        self.status = status
        self.reason = reason
        self.diagnosis = diagnosis
        super().__init__(fact)

    def error(self, kind: type[CourseError] = CourseError) -> CourseError:
        """Returns what to raise where no verdict is asked for."""
        return kind(self.fact, self.step)


def not_started(fact: str, step: str) -> AnswerProblem:
    """Returns the problem of an answer that nobody has begun."""
    return AnswerProblem(fact, step, status="not-started", reason=None, diagnosis=None)


def refused_file(fact: str, step: str = "") -> AnswerProblem:
    """Returns the problem of a file that is not looked into: too large, or no text."""
    return AnswerProblem(fact, step, status="failed", reason="refused", diagnosis="refused")


def missing_function(fact: str, step: str) -> AnswerProblem:
    """Returns the problem of an answer without a function that the puzzle asks for."""
    reason = "missing-function"
    return AnswerProblem(fact, step, status="failed", reason=reason, diagnosis=reason)


def path_of(puzzle: Puzzle, answer: str | os.PathLike[str]) -> Path:
    """Returns the file that a path means: itself, or the puzzle's file in a folder of answers."""
    path = Path(answer)
    if os.path.isdir(path) and path.suffix != ".py":
        return workspace.answer_path(puzzle, path)
    return path


def text_of(puzzle: Puzzle, path: Path, *, own: bool, write: str) -> str:
    """Returns the text of an answer's file.

    Args:
        puzzle: the puzzle.
        path: the file.
        own: True for the learner's own file, which a command can begin.
        write: what a learner is to write into the stub, such as "your kernel".

    Raises:
        AnswerProblem: there is no file, it is still the stub, or it is no text.
    """
    shown = source.show_path(path)
    if source.is_missing(path):
        step = "check the folder and the name of the file"
        if own:
            step = f"`gpu-course reset {puzzle.short_name}` writes the stub; start from there"
        raise not_started(f"there is no {shown}", step)
    try:
        text = source.read_text(path, shown)
    except AnswerFileError as error:
        raise refused_file(error.fact, error.hint) from None
    if workspace.is_stub(text, puzzle.name):
        raise not_started(f"{shown} is still the stub", f"write {write} in it, then check again")
    return text

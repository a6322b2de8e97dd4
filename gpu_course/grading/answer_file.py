"""The text of an answer's file, whatever the answer is written in."""

from __future__ import annotations

import os
from pathlib import Path

from gpu_course.errors import AnswerFileError
from gpu_course.grading import workspace
from gpu_course.grading.answer_problem import not_started, refused_file
from gpu_course.puzzle import Puzzle
from simt.kernel import source


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

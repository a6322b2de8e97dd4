"""check, hint, diff and progress as a lesson calls them: each returns what shows itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from IPython import get_ipython

from gpu_course.grading.check import check as _check
from gpu_course.grading.learner import solution
from gpu_course.grading.learner.hints import next_hint
from gpu_course.grading.learner.progress import progress as _progress
from gpu_course.grading.learner.solution import diff as _diff
from gpu_course.grading.learner.verdict_cache import check_own
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.notebook.guesses.forecast_score import forecast_score
from gpu_course.notebook.guesses.prediction import predictions_made
from gpu_course.notebook.marks import asks_for_answers, shown_at_once, tells_of_all_lessons
from gpu_course.notebook.note import Note, show, telling
from gpu_course.notebook.tutor.course_map import CourseMap
from gpu_course.notebook.tutor.hint_panel import HintPanel
from gpu_course.notebook.tutor.side_by_side import SideBySide
from gpu_course.puzzle import index


class ShownDiff:
    """An answer beside the solution, and the discussion below: two outputs of one cell."""

    def __init__(self, found: solution.SolutionDiff) -> None:
        self._found = found

    def __repr__(self) -> str:
        return str(self._found)

    def _ipython_display_(self) -> None:
        show(SideBySide(self._found))
        if self._found.discussion:
            show(Discussion(self._found.discussion))


@dataclass(frozen=True)
class Discussion:
    """The discussion of a puzzle: Markdown in a notebook, else text."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return self.text


@shown_at_once
@asks_for_answers
@telling
def check(name: str, *, answer: Any = None, seed: int | None = None, gpu: bool = False) -> Verdict:
    """Returns the verdict on your answer to a puzzle; a Note where there is nothing to judge.

    Args:
        name: "guard" or "01_threads/guard".
        answer: default your own file; else a path or a kernel defined in a cell.
        seed: draws the random case; default a fresh one each time.
        gpu: whether your file also runs on this machine's GPU: both verdicts then stand side by
            side. The kernels run in a process of their own, and not in this one.
    """
    if answer is None and seed is None:
        return check_own(name, by=partial(_check, gpu=True) if gpu else None)
    return _check(name, answer=answer, seed=seed, gpu=gpu)


@shown_at_once
@asks_for_answers
@telling
def hint(name: str) -> HintPanel | Note:
    """Returns the hints of a puzzle: those asked for so far, and a button for the next.

    Running the cell gives none away. Where there are no buttons, as in a terminal, the call itself
    is the question, and the next of the three hints is the answer.

    Args:
        name: "guard" or "01_threads/guard".
    """
    puzzle = index.find(name)
    if hasattr(get_ipython(), "kernel"):
        return HintPanel(puzzle)
    given = next_hint(puzzle.name)
    rest = "" if given.number < given.of else "\nThat was the last one."
    return Note(f"Hint {given.number} of {given.of}: {given.text}{rest}", "hint")


@shown_at_once
@asks_for_answers
@telling
def diff(name: str) -> ShownDiff | Note:
    """Returns your answer beside the solution and discusses it, once your answer passes.

    Args:
        name: "guard" or "01_threads/guard".
    """
    return ShownDiff(_diff(name))


@shown_at_once
@tells_of_all_lessons
@asks_for_answers
@telling
def progress() -> CourseMap:
    """Returns the map of the course with your progress on it, worked out from your answers.

    It counts the predictions that you made before their answer was shown. Once a forecast of yours
    has been told, it also shows how often your intervals held.
    """
    return CourseMap(_progress(), forecast_score(), predictions_made())

"""How far a learner has come, worked out afresh from the answers each time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpu_course.catalog import Lesson, index
from gpu_course.grading.grade import grade
from gpu_course.grading.verdict import Verdict


@dataclass(frozen=True)
class LessonProgress:
    """How far one lesson is solved.

    Attributes:
        lesson: the lesson.
        verdicts: one per puzzle of it, in its order.
    """

    lesson: Lesson
    verdicts: tuple[Verdict, ...]

    @property
    def name(self) -> str:
        """The lesson's name."""
        return self.lesson.name

    @property
    def title(self) -> str:
        """The lesson's title."""
        return self.lesson.title

    @property
    def passed(self) -> int:
        """How many of its puzzles are passed."""
        return sum(verdict.passed for verdict in self.verdicts)

    @property
    def points(self) -> int:
        """The points earned in it."""
        return sum(verdict.points for verdict in self.verdicts)

    @property
    def max_points(self) -> int:
        """The points that can be earned in it."""
        return sum(verdict.max_points for verdict in self.verdicts)


def progress(answers: str | Path | None = None, jobs: int = 1) -> tuple[LessonProgress, ...]:
    """Returns the progress in every lesson, in course order.

    Args:
        answers: a folder of answers; default the learner's own.
        jobs: how many processes share the work.
    """
    by_name = {verdict.name: verdict for verdict in grade(answers, jobs=jobs)}
    return tuple(
        LessonProgress(lesson, tuple(by_name[puzzle.name] for puzzle in lesson.puzzles))
        for lesson in index.lessons()
    )


def next_puzzle(lessons: tuple[LessonProgress, ...]) -> str | None:
    """Returns the full name of the first puzzle that is not passed, or None when all are."""
    for lesson in lessons:
        for verdict in lesson.verdicts:
            if not verdict.passed:
                return verdict.name
    return None

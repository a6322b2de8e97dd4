"""How far a learner has come, worked out from the answers each time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gpu_course.grading import workspace
from gpu_course.grading.grade import grade
from gpu_course.grading.learner import verdict_cache
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.puzzle import Lesson, index


@dataclass(frozen=True)
class LessonProgress:
    """How far one lesson is solved.

    Attributes:
        lesson: the lesson.
        verdicts: one per puzzle of it, in its order, on the answers as they are now.
        won: the full names of those that passed at an earlier time. A pass once won stays won,
            whatever becomes of the answer.
    """

    lesson: Lesson
    verdicts: tuple[Verdict, ...]
    won: frozenset[str] = frozenset()

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
        """How many of its puzzles are passed, now or earlier."""
        return sum(self.has_passed(verdict) for verdict in self.verdicts)

    @property
    def points(self) -> int:
        """The points earned in it."""
        return sum(v.max_points if self.has_passed(v) else v.points for v in self.verdicts)

    @property
    def max_points(self) -> int:
        """The points that can be earned in it."""
        return sum(verdict.max_points for verdict in self.verdicts)

    def has_passed(self, verdict: Verdict) -> bool:
        """True when a puzzle of the lesson is passed, now or earlier."""
        return verdict.passed or verdict.name in self.won


def progress(answers: str | Path | None = None, jobs: int = 1) -> tuple[LessonProgress, ...]:
    """Returns the progress in every lesson, in course order.

    An answer of the learner's own is not checked again while it, the course and the libraries are
    what they were at its last check.

    Args:
        answers: a folder of answers; default the learner's own.
        jobs: how many processes share the work.
    """
    by_name = {verdict.name: verdict for verdict in _verdicts(answers, jobs)}
    won: frozenset[str] = frozenset()
    if answers is None:
        for name, verdict in by_name.items():
            if verdict.passed:
                workspace.remember_pass(name)
        won = workspace.passes_won()
    return tuple(
        LessonProgress(lesson, tuple(by_name[puzzle.name] for puzzle in lesson.puzzles), won)
        for lesson in index.lessons()
    )


def _verdicts(answers: str | Path | None, jobs: int) -> Iterator[Verdict]:
    if answers is not None:
        yield from grade(answers, jobs=jobs)
        return
    puzzles = {puzzle.name: puzzle for puzzle in index.puzzles()}
    keys = {name: verdict_cache.key_of(puzzle) for name, puzzle in puzzles.items()}
    kept = {name: verdict_cache.kept(keys[name], puzzle) for name, puzzle in puzzles.items()}
    yield from (verdict for verdict in kept.values() if verdict is not None)
    unknown = [puzzles[name] for name, verdict in kept.items() if verdict is None]
    for verdict in grade(only=unknown, jobs=jobs):
        verdict_cache.keep(keys[verdict.name], puzzles[verdict.name], verdict)
        yield verdict


def next_puzzle(lessons: tuple[LessonProgress, ...]) -> str | None:
    """Returns the full name of the first puzzle that is not passed, or None when all are."""
    for lesson in lessons:
        for verdict in lesson.verdicts:
            if not lesson.has_passed(verdict):
                return verdict.name
    return None

"""AnswerProblem: why an answer cannot be run, in place of the answer."""

from __future__ import annotations

from gpu_course.errors import CourseError


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

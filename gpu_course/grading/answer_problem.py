"""AnswerProblem: why an answer cannot be run, in place of the answer."""

from __future__ import annotations


class AnswerProblem(Exception):
    """An answer that cannot be run: what the verdict is to say instead.

    Args:
        status, reason, diagnosis: as in Verdict.
        text: the lines for the learner.
    """

    def __init__(
        self, text: str, *, status: str, reason: str | None, diagnosis: str | None
    ) -> None:
        self.status = status
        self.reason = reason
        self.diagnosis = diagnosis
        self.text = text
        super().__init__(text)


def not_started(fact: str, step: str) -> AnswerProblem:
    """Returns the problem of an answer that nobody has begun."""
    return AnswerProblem(
        f"{fact}\n  try:    {step}", status="not-started", reason=None, diagnosis=None
    )


def refused_file(text: str) -> AnswerProblem:
    """Returns the problem of a file that is not looked into: too large, or no text."""
    return AnswerProblem(text, status="failed", reason="refused", diagnosis="refused")


def missing_function(fact: str, step: str) -> AnswerProblem:
    """Returns the problem of an answer without a function that the puzzle asks for."""
    return AnswerProblem(
        f"{fact}\n  try:    {step}",
        status="failed",
        reason="missing-function",
        diagnosis="missing-function",
    )

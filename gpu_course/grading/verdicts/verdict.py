"""A Verdict: what the grader says about one answer to one puzzle, and how it shows itself."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_course.grading.verdicts.facts import VerdictFacts


@dataclass(frozen=True)
class Verdict(VerdictFacts):
    """The grader's word on one answer, which shows itself as text and in a notebook."""

    # How a verdict looks is imported when it is shown: until then it is plain data.

    def __repr__(self) -> str:
        from gpu_course.grading.verdicts.exports import verdict_text

        return verdict_text(self)

    def _repr_html_(self) -> str:
        from gpu_course.grading.verdicts.exports import verdict_html

        return verdict_html(self)

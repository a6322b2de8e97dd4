"""The check of one answer, whatever it is written in: case by case, up to the first that fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from gpu_course.grading.seeds import LISTED_SEED
from gpu_course.grading.verdicts.sections import Section, section
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.puzzle import Case, Puzzle


class Failed(Exception):
    """Ends a check with a verdict."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        super().__init__(verdict.message)


def cases_of(puzzle: Any, seed: int) -> Iterator[tuple[Case, int, Sequence[Case]]]:
    """Yields (case, seed, listed cases after it): the visible one first, a drawn one last."""
    listed = sorted(puzzle.cases, key=lambda case: not case.visible)
    for number, case in enumerate(listed):
        yield case, LISTED_SEED, listed[number + 1 :]
    yield puzzle.random_case(np.random.default_rng(seed)), seed, []


class Checking:
    """The check of one answer, with what it has found out so far.

    A kind of answer says how a case is tried, what is looked at once all are right, and what a pass
    says. Each of them stops the check where something is wrong.
    """

    def __init__(self, puzzle: Puzzle, seed: int) -> None:
        self.puzzle: Any = puzzle
        self.seed = seed
        self.case: Case | None = None

    def verdict(self) -> Verdict:
        """Returns the verdict on the answer."""
        try:
            for case, seed, others in self._cases():
                self.case = case
                self.try_case(case, seed, others)
            self.look_at_costs()
            return self.passed()
        except Failed as failed:
            return failed.verdict

    def try_case(self, case: Case, seed: int, others: Sequence[Case]) -> None:
        """Stops where a case fails; `others` are the listed ones that come after it."""
        raise NotImplementedError

    def look_at_costs(self) -> None:
        """Stops where a right answer costs too much."""
        raise NotImplementedError

    def passed(self) -> Verdict:
        """Returns the verdict on an answer that is right and costs no more than it may."""
        raise NotImplementedError

    def stop(self, reason: str, diagnosis: str, said: list[Section], **more: Any) -> NoReturn:
        """Ends the check: the answer is not right.

        Args:
            reason, diagnosis: as in Verdict.
            said: what the learner reads; with `after`, what stands below how to repeat it.
            more: further fields of the Verdict.
        """
        raise Failed(self.failed(reason, diagnosis, said, **more))

    def failed(
        self,
        reason: str,
        diagnosis: str,
        said: list[Section],
        after: Sequence[Section] = (),
        **more: Any,
    ) -> Verdict:
        """Returns the verdict on an answer that is not right; see `stop`."""
        found = {"status": "failed", "reason": reason, "diagnosis": diagnosis, **more}
        return self.made([*said, *self._again(), *after], **found)

    def made(self, said: Sequence[Section], **fields: Any) -> Verdict:
        """Returns a verdict on this puzzle; without `points` it earns none."""
        return Verdict(
            name=self.puzzle.name,
            sections=tuple(said),
            **{"reason": None, "points": 0, "max_points": self.puzzle.points, **fields},
        )

    def all_right(self) -> str:
        """Returns the first line of a pass."""
        cases, points = len(self.puzzle.cases) + 1, self.puzzle.points
        return f"right in all {cases} cases: {points} of {points} points"

    def fixed_cases(self) -> Sequence[Case]:
        """Returns the cases that are the same in every check."""
        fixed: Sequence[Case] = self.puzzle.cases
        return fixed

    def _cases(self) -> Iterator[tuple[Case, int, Sequence[Case]]]:
        return cases_of(self.puzzle, self.seed)

    def _again(self) -> list[Section]:
        """How to have the drawn case again; nothing for those that never change."""
        if self.case is None or any(self.case is case for case in self.fixed_cases()):
            return []
        call = f'check("{self.puzzle.short_name}", seed={self.seed})'
        return section("again", f"{call} draws the same case")

"""Checking many puzzles one after the other, a step at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from gpu_course.grading.learner.loop import Checker, deadline_s
from gpu_course.grading.worker import CheckOutcome
from gpu_course.puzzle import Puzzle

OVERDUE = "timeout"


class Survey:
    """The statuses of some puzzles, found one by one.

    Args:
        puzzles: what to check, in order.
        worker: what checks; the survey has it to itself.
        until_open: True to end at the first puzzle that is not passed.
        clock: seconds that only go forward.

    Attributes:
        found: the puzzle it ended at, or None.
        done: True when nothing is left to check.
        checked: how many are.
    """

    def __init__(
        self,
        puzzles: Sequence[Puzzle],
        worker: Checker,
        *,
        until_open: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.total = len(puzzles)
        self.worker = worker
        self.until_open = until_open
        self.found: Puzzle | None = None
        self.checked = 0
        self._left = list(puzzles)
        self._clock = clock
        self._started_at: float | None = None

    @property
    def done(self) -> bool:
        """True when nothing is left to check."""
        return not self._left

    def step(self) -> tuple[tuple[str, str], ...]:
        """Returns the (name, status) of each puzzle found out since the last step."""
        return tuple(self._step(self._clock()))

    def _step(self, now: float) -> Iterator[tuple[str, str]]:
        if self._left and self._started_at is not None:
            status = self._status(now, self._started_at)
            if status is None:
                return
            puzzle = self._left.pop(0)
            self._started_at = None
            self.checked += 1
            if self.until_open and status != "passed":
                self.found = puzzle
                self._left.clear()
            yield puzzle.name, status
        if self._left:
            self._started_at = now
            self.worker.post(self._left[0])

    def _status(self, now: float, started_at: float) -> str | None:
        reply = self.worker.poll()
        if isinstance(reply, CheckOutcome):
            return reply.verdict.status
        if reply is not None:
            return "error"
        if now - started_at > deadline_s(self._left[0]):
            self.worker.stop()
            return OVERDUE
        return None

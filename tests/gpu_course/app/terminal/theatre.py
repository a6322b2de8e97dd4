"""A Session with workers that answer what a test tells them, and a clock that it moves."""

from __future__ import annotations

from typing import Any

from gpu_course.app.terminal.session import Session
from gpu_course.grading.learner.loop import POLL_S
from gpu_course.grading.worker import CheckOutcome, Died
from tests.gpu_course.grading.stage import FakeWorker, outcome


class Scripted(FakeWorker):
    """Answers each check at the next look with the status a test gave the puzzle."""

    def __init__(self, statuses: dict[str, str | Died | None]) -> None:
        super().__init__()
        self.statuses = statuses

    def poll(self) -> CheckOutcome | Died | None:
        if self.busy:
            status = self.statuses.get(self.posted[-1], "not-started")
            name = self.posted[-1]
            self.reply = outcome(status, name) if isinstance(status, str) else status
        return super().poll()


class Theatre:
    """One session.

    Args:
        statuses: full name -> status; Died(...) for a worker that dies, None for a check that
            does not end.
        name: the puzzle to begin with.
    """

    def __init__(self, statuses: dict[str, Any] | None = None, name: str | None = None) -> None:
        self.now = 0.0
        self.statuses: dict[str, Any] = statuses or {}
        self.workers: list[Scripted] = []
        self.session = Session(name, make_worker=self._worker, clock=lambda: self.now)

    def _worker(self) -> Any:
        self.workers.append(Scripted(self.statuses))
        return self.workers[-1]

    def wait(self, steps: int = 20) -> list[bool]:
        """Lets the session run and returns what each tick said."""
        said = []
        for _ in range(steps):
            self.now += POLL_S
            said.append(self.session.tick())
        return said

    def press(self, *keys: str) -> None:
        """Presses keys, one after the other."""
        for key in keys:
            self.session.press(key)

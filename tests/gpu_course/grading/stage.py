"""A file, a worker and a clock that stand still until a test moves them."""

from __future__ import annotations

from pathlib import Path

from gpu_course.grading.learner.loop import Event, Loop, Signature
from gpu_course.grading.verdicts.sections import fact
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.grading.worker import CheckOutcome, Died
from gpu_course.puzzle import Puzzle
from tests.gpu_course.grading import toy


def outcome(status: str = "passed", name: str = toy.TOY.name) -> CheckOutcome:
    """Returns an Outcome as a worker would send it."""
    points = 10 if status == "passed" else 0
    said = tuple(fact(f"{status}: a message"))
    return CheckOutcome(Verdict(name, status, None, points, 10, said))


class FakeWorker:
    """Checks nothing: `reply` is what it answers next; None lets it go on for ever."""

    def __init__(self) -> None:
        self.busy = False
        self.posted: list[str] = []
        self.stops = 0
        self.reply: CheckOutcome | Died | None = None

    def post(self, puzzle: Puzzle) -> None:
        assert not self.busy, "one check at a time"
        self.busy = True
        self.posted.append(puzzle.name)

    def poll(self) -> CheckOutcome | Died | None:
        if not self.busy or self.reply is None:
            return None
        self.busy = False
        reply, self.reply = self.reply, None
        return reply

    def stop(self) -> None:
        self.busy = False
        self.stops += 1


class Stage:
    """A Loop over a file that exists only as its signature."""

    def __init__(self) -> None:
        self.now = 100.0
        self.file: Signature = (1, 10, 111)
        self.worker = FakeWorker()
        self.loop = Loop(
            toy.TOY,
            self.worker,
            path=Path("plus_ten.py"),
            clock=lambda: self.now,
            look=lambda path: self.file,
        )

    def save(self, version: int) -> None:
        """Writes another text into the file."""
        self.file = (version, 10, version)

    def after(self, seconds: float) -> tuple[Event, ...]:
        """Lets time pass, then steps once."""
        self.now += seconds
        return self.loop.step()

"""Save, check, look: what follows one answer file for a terminal or a notebook.

The loop has no thread and no clock of its own: whoever shows it calls `step` more than ten times a
second and draws the events that come back.
"""

from __future__ import annotations

import stat
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gpu_course.errors import CourseError
from gpu_course.grading import workspace
from gpu_course.grading.verdicts.sections import Section, heading, of_error, section
from gpu_course.grading.worker import CheckOutcome, Died
from gpu_course.puzzle import Puzzle, PythonPuzzle

POLL_S = 0.07
"""Seconds between two steps."""
GONE_S = 0.5
"""An editor that saves by renaming lets the file be missing for a moment."""
GRACE_S = 0.25
"""A check that a newer save makes pointless may take this long to end by itself."""
KERNEL_DEADLINE_S = 330.0
"""Longer than a Worker lets the check of a kernel go on: its verdict comes first."""
MAX_BYTES = 1 << 20

Signature = tuple[int | str, ...]
MISSING: Signature = ("missing",)


class Checker(Protocol):
    """What the loop asks of a Worker."""

    @property
    def busy(self) -> bool:
        """True while it is asked."""

    def post(self, puzzle: Puzzle) -> None:
        """Asks for a check."""

    def poll(self) -> CheckOutcome | CourseError | Died | None:
        """Returns its answer, once."""

    def stop(self) -> None:
        """Ends it."""


@dataclass(frozen=True)
class Started:
    """A check began."""

    name: str


@dataclass(frozen=True)
class Finished:
    """A check ended with a verdict."""

    outcome: CheckOutcome


@dataclass(frozen=True)
class Stopped:
    """A check was ended, or ended by itself, without a verdict.

    Attributes:
        name: the puzzle.
        sections: what to tell the learner.
    """

    name: str
    sections: tuple[Section, ...]


Event = Started | Finished | Stopped


class Loop:
    """Follows the learner's answer to one puzzle: each save is checked, the newest one counts.

    Args:
        puzzle: the puzzle.
        worker: what checks; the loop stops it where a check has to end.
        path: the answer's file; default the learner's own.
        clock: seconds that only go forward.
        look: path -> the file's Signature.

    Raises:
        CourseError: there is no folder of answers.
    """

    def __init__(
        self,
        puzzle: Puzzle,
        worker: Checker,
        *,
        path: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        look: Callable[[Path], Signature] | None = None,
    ) -> None:
        self.puzzle = puzzle
        self.path = path or workspace.answer_path(puzzle)
        self._worker = worker
        self._clock = clock
        self._look = look or signature
        self._seen: Signature | None = None
        self._seen_at = 0.0
        self._checked: Signature | None = None
        self._started_at: float | None = None

    def step(self) -> tuple[Event, ...]:
        """Looks at the file and at the worker once, and returns what happened, oldest first."""
        return tuple(self._step(self._clock()))

    def again(self) -> None:
        """Has the file checked anew, saved or not."""
        self._checked = None

    def close(self) -> None:
        """Ends a check that is still running."""
        if self._started_at is not None:
            self._worker.stop()
            self._started_at = None

    def _step(self, now: float) -> Iterator[Event]:
        saved = self._is_saved(now)
        if self._started_at is not None:
            yield from self._running(now, self._started_at, saved)
        if saved and self._started_at is None:
            self._checked = self._seen
            self._started_at = now
            self._worker.post(self.puzzle)
            yield Started(self.puzzle.name)

    def _running(self, now: float, started_at: float, saved: bool) -> Iterator[Event]:
        reply = self._worker.poll()
        if reply is not None:
            self._started_at = None
            # The verdict on a text that has been replaced since would only confuse.
            if not saved:
                yield from self._told(reply)
        elif saved and now - started_at > GRACE_S:
            self._worker.stop()
            self._started_at = None
        elif now - started_at > deadline_s(self.puzzle):
            self._worker.stop()
            self._started_at = None
            yield Stopped(self.puzzle.name, overdue(self.puzzle))

    def _told(self, reply: CheckOutcome | CourseError | Died) -> Iterator[Event]:
        if isinstance(reply, CheckOutcome):
            yield Finished(reply)
        elif isinstance(reply, Died):
            yield Stopped(self.puzzle.name, died(self.puzzle, reply))
        else:
            yield Stopped(self.puzzle.name, tuple(of_error(reply)))

    def _is_saved(self, now: float) -> bool:
        """True when the file differs from what was checked last, and rests."""
        seen = self._look(self.path)
        if seen != self._seen:
            first = self._seen is None
            self._seen, self._seen_at = seen, now
            # At the start there is no save to wait for the end of.
            return first
        if seen == self._checked:
            return False
        return seen != MISSING or now - self._seen_at >= GONE_S


def signature(path: Path) -> Signature:
    """Returns what tells one state of a file from another: when it was written, and its text.

    Several file systems keep the time in steps of a second or two, so the text is looked at too.
    """
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            # A pipe would be waited for, and some devices never end.
            return "no file", about.st_mode
        with path.open("rb") as file:
            return about.st_mtime_ns, about.st_size, zlib.crc32(file.read(MAX_BYTES))
    except (FileNotFoundError, NotADirectoryError):
        return MISSING
    except OSError as error:
        return "unreadable", error.errno or 0


def deadline_s(puzzle: Puzzle) -> float:
    """Returns the seconds after which a check is ended from outside.

    The grader has limits of its own, which come first; this one is for what gets past them.
    """
    if isinstance(puzzle, PythonPuzzle):
        return KERNEL_DEADLINE_S + puzzle.seconds * (len(puzzle.cases) + 1)
    return KERNEL_DEADLINE_S


def overdue(puzzle: Puzzle) -> tuple[Section, ...]:
    """Returns what a learner is told when a check took too long."""
    name, seconds = puzzle.short_name, f"{deadline_s(puzzle):g} s"
    step = "look for a loop that does not end, or does far too much; the next save is checked again"
    return (
        *heading(f"stopped: the check of {name} was not done after {seconds}"),
        *section("try", step),
    )


def died(puzzle: Puzzle, death: Died) -> tuple[Section, ...]:
    """Returns what a learner is told when the worker ended by itself."""
    name, status = puzzle.short_name, death.status
    return (
        *heading(f"the process that checks {name} ended by itself, with exit status {status}"),
        *section("try", f"save again; if it happens again, `gpu-course check {name}` says more"),
    )

"""The check of a kernel's file in a process of its own, which is ended when it takes too long.

What an answer costs is bounded by budgets, which count and so never depend on the machine. This is
what stands behind them. The process stays for the next check, so only the first one waits for it.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.grading.kernel import wire
from gpu_course.grading.labels import line
from gpu_course.grading.verdict import Verdict
from gpu_course.grading.worker import Died, Worker
from gpu_course.grading.workspace import ANSWERS_VARIABLE
from gpu_course.puzzle import Puzzle
from gpu_course.units import format_bytes

COMMAND = (sys.executable, "-P", "-m", "gpu_course.grading.kernel.apart_process")
"""-P: a file beside the learner's answer must not take the place of a module."""

COMPUTING_S = 30.0
"""Processor time for one check: a busy machine makes a check slow, and never makes it fail."""
WAITING_S = 300.0
"""Time on the clock for one check, for what hangs and computes nothing."""
MOST_BYTES = 2 << 30
LOOK_S = 0.05


def check_apart(puzzle: Puzzle, path: Path, *, own: bool, seed: int) -> Verdict:
    """Returns the verdict on a kernel's file, made in the process beside this one.

    Args:
        puzzle: a puzzle of the course.
        path: the file.
        own: True for the learner's own file, which a command can begin.
        seed: draws the random case.

    Raises:
        CourseError: what the check itself raises.
    """
    with _lock:
        request = {
            "name": puzzle.name,
            "path": str(path),
            "own": own,
            "seed": seed,
            "folder": os.getcwd(),
            "answers": os.environ.get(ANSWERS_VARIABLE),
        }
        try:
            reply = _asked(puzzle, request)
        except BaseException:
            # Ctrl-C, or a notebook's interrupt: a check nobody waits for any more is ended.
            _worker.stop()
            raise
    if isinstance(reply, CourseError):
        raise reply
    return reply


def warm() -> None:
    """Starts the process, so that the first check finds everything imported."""
    with _lock:
        _worker.warm()


def stop() -> None:
    """Ends the process; the next check starts another."""
    _worker.stop()


class Checker(Worker):
    """A Worker that is asked with a whole request and answers with a whole Verdict."""

    def _read(self, line: str) -> Any:
        return wire.loads(line)


def _asked(puzzle: Puzzle, request: dict[str, Any]) -> Verdict | CourseError:
    _worker.ask(request)
    started = time.monotonic()
    spent = _worker.used()[0]
    while True:
        reply = _worker.poll(LOOK_S)
        if isinstance(reply, Died):
            return _ended(
                puzzle,
                "crash",
                f"the process that checked {puzzle.short_name} ended in the middle of it, with "
                f"exit status {reply.status}",
            )
        if reply is not None:
            return reply  # type: ignore[return-value]
        seconds, held = _worker.used()
        if seconds - spent > COMPUTING_S or time.monotonic() - started > WAITING_S:
            _worker.stop()
            limit = COMPUTING_S if seconds - spent > COMPUTING_S else WAITING_S
            fact = f"the check of {puzzle.short_name} was not done after {limit:g} seconds"
            return _ended(puzzle, "deadline", fact)
        if held > MOST_BYTES:
            _worker.stop()
            fact = f"the check of {puzzle.short_name} needs more than {format_bytes(MOST_BYTES)}"
            return _ended(puzzle, "crash", f"{fact} of memory")


def _ended(puzzle: Puzzle, reason: str, fact: str) -> Verdict:
    step = "look for what grows or repeats far more than the puzzle asks for"
    message = "\n".join([fact, *line("try", step)])
    return Verdict(puzzle.name, "failed", reason, 0, puzzle.points, message, diagnosis=reason)


_lock = threading.RLock()
_worker = Checker(command=COMMAND)
atexit.register(stop)

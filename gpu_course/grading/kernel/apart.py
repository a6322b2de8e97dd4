"""The check of a kernel's file in a worker beside this process.

It is kept from check to check, so only the first waits for it to start.
"""

from __future__ import annotations

import atexit
import threading
from pathlib import Path

from gpu_course.errors import CourseError
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.grading.worker import CheckOutcome, Died, Worker, ended
from gpu_course.puzzle import Puzzle

LOOK_S = 0.05


def check_apart(puzzle: Puzzle, path: Path, *, own: bool, seed: int) -> Verdict:
    """Returns the verdict on a kernel's file; the arguments are those of `Worker.ask`.

    Raises:
        CourseError: what the check itself raises.
    """
    with _lock:
        try:
            _worker.ask(puzzle, path, own=own, seed=seed)
            while (reply := _worker.poll(LOOK_S)) is None:
                pass
        except BaseException:
            # Ctrl-C, or a notebook's interrupt: a check nobody waits for any more is ended.
            _worker.stop()
            raise
    if isinstance(reply, CourseError):
        raise reply
    if isinstance(reply, Died):
        reply = _died(puzzle, reply)
    return reply.verdict


def stop() -> None:
    """Ends the process; the next check starts another."""
    _worker.stop()


def _died(puzzle: Puzzle, death: Died) -> CheckOutcome:
    fact = (
        f"the process that checked {puzzle.short_name} ended in the middle of it, with exit status "
        f"{death.status}"
    )
    return ended(puzzle, "crash", fact)


_lock = threading.RLock()
_worker = Worker()
atexit.register(stop)

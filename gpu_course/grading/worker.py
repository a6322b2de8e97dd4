"""A warm worker: a process beside this one that checks answers, one at a time, and can be ended.

A check in it never holds up the keys of a terminal or the kernel of a notebook, and one that goes
on for too long is ended together with every process it started. What a kernel costs is bounded by
budgets, which count and so never depend on the machine; the limits here are what stands behind
them. An answer in Python runs in a process of its own, which `isolation` holds to limits.

`check` asks one worker of this module, which is kept from check to check: only the first waits for
it to start.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import gpu_course
import simt
from gpu_course.errors import CourseError
from gpu_course.grading.kernel.scene import Scene
from gpu_course.grading.verdicts.sections import Section, fact, section
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.grading.workspace import ANSWERS_VARIABLE
from gpu_course.isolation import servers, transport
from gpu_course.puzzle import Case, KernelPuzzle, Puzzle
from gpu_course.units import format_bytes
from simt.report import Counters, GlobalCounters, Hazard, LaunchShape, Report, SharedCounters, Touch

LOOK_S = 0.05
"""Between two looks at a check that somebody waits for."""
PATIENCE_S = 2.0
"""What a process that is asked no more gets to put things away."""
COMPUTING_S = 30.0
"""Processor time for the check of a kernel: a busy machine makes it slow, never makes it fail."""
WAITING_S = 300.0
"""Time on the clock for the check of a kernel, for what hangs and computes nothing."""
MAX_BYTES = 2 << 30
"""What the check of a kernel may add to the memory of the process."""

COMMAND = (sys.executable, "-P", "-m", "gpu_course.grading.worker_process")
"""-P: a file beside the learner's notebook must not take the place of a module."""


@dataclass(frozen=True)
class CheckOutcome:
    """What a check came to.

    Attributes:
        verdict: the verdict.
        html: it as HTML, with its picture; "" where that was not asked for.
    """

    verdict: Verdict
    html: str = ""


@dataclass(frozen=True)
class Problem:
    """What kept a check from a verdict, as it crosses: the parts of a CourseError."""

    fact: str
    hint: str


@dataclass(frozen=True)
class Died:
    """The worker ended by itself in the middle of a check.

    Attributes:
        status: its exit status; minus the number of a signal that ended it.
    """

    status: int


_CLASSES = (
    CheckOutcome, Problem, Verdict, Section, Case, Report, Hazard, Counters, GlobalCounters,
    SharedCounters, LaunchShape, Touch, Scene,
)  # fmt: skip
OBJECTS: transport.Objects = {each.__name__: each for each in _CLASSES}
"""The classes whose objects cross."""


@dataclass
class _Check:
    """A check under way: of which puzzle, and what the process had used before it."""

    puzzle: Puzzle
    started: float
    seconds: float
    held: int


class Worker:
    """Checks answers in a process of its own, started with the first check or by `warm`.

    Args:
        html: True to have every Outcome bring its HTML.
        command: what to start; default the course's own worker.
    """

    def __init__(self, *, html: bool = False, command: Sequence[str] = COMMAND) -> None:
        self.html = html
        self._check: _Check | None = None
        self._command = list(command)
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None
        self._replies: queue.SimpleQueue[Any] = queue.SimpleQueue()

    @property
    def busy(self) -> bool:
        """True from `post` or `ask` until `poll` gave the answer."""
        return self._check is not None

    def warm(self) -> None:
        """Starts the process, so that the first check finds everything imported."""
        if self._process is not None:
            return
        self._replies = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [*self._command, *(["--html"] if self.html else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            **_out_of_reach(),
        )
        self._thread = threading.Thread(
            target=_listen, args=(self._process, self._replies), daemon=True
        )
        self._thread.start()

    def post(self, puzzle: Puzzle) -> None:
        """Asks for a verdict on the learner's own answer that is kept, and comes without numbers.

        `poll` brings it; what keeps the check from a verdict comes as one of the grader's fault.
        """
        self._ask(puzzle, {"keep": True})

    def ask(self, puzzle: Puzzle, path: Path, *, own: bool, seed: int) -> None:
        """Asks for the whole verdict on a kernel's file; `poll` brings it.

        Args:
            puzzle: a puzzle of the course.
            path: the file.
            own: True for the learner's own file, which a command can begin.
            seed: draws the random case.
        """
        self._ask(puzzle, {"keep": False, "path": str(path), "own": own, "seed": seed})

    def _ask(self, puzzle: Puzzle, request: dict[str, Any]) -> None:
        assert not self.busy, "one check at a time"
        self.warm()
        assert self._process is not None and self._process.stdin is not None
        self._check = _Check(puzzle, time.monotonic(), *self.used())
        here = {"folder": os.getcwd(), "answers": os.environ.get(ANSWERS_VARIABLE)}
        # A worker that is gone already is told by `poll`.
        with contextlib.suppress(OSError):
            self._process.stdin.write(transport.pack({"name": puzzle.name, **request, **here}))
            self._process.stdin.flush()

    def used(self) -> tuple[float, int]:
        """Returns the processor time in seconds and the memory in bytes that the process has used.

        Both are 0 where there is none.
        """
        import psutil

        with contextlib.suppress(psutil.Error):
            if self._process is not None:
                process = psutil.Process(self._process.pid)
                with process.oneshot():
                    times = process.cpu_times()
                    return times.user + times.system, process.memory_info().rss
        return 0.0, 0

    def poll(self, seconds: float = 0.0) -> CheckOutcome | CourseError | Died | None:
        """Returns what was asked for, once it is there, else None.

        Args:
            seconds: how long to wait for it.
        """
        if self._check is None:
            return None
        try:
            reply = self._replies.get(timeout=seconds) if seconds else self._replies.get_nowait()
        except queue.Empty:
            return self._gone_astray(self._check)
        self._check = None
        if isinstance(reply, CheckOutcome):
            return reply
        if isinstance(reply, Problem):
            return CourseError(reply.fact, reply.hint)
        assert self._process is not None
        status = self._process.wait()
        self.stop()
        return Died(status)

    def _gone_astray(self, check: _Check) -> CheckOutcome | None:
        """Ends the check of a kernel that takes more than it may, and returns what is said of it.

        An answer in Python has limits of its own, and the process here waits for it.
        """
        if not isinstance(check.puzzle, KernelPuzzle):
            return None
        seconds, held = self.used()
        what = f"the check of {check.puzzle.short_name}"
        reason = "deadline"
        if seconds - check.seconds > COMPUTING_S:
            text = f"{what} was not done after {COMPUTING_S:g} seconds"
        elif time.monotonic() - check.started > WAITING_S:
            text = f"{what} was not done after {WAITING_S:g} seconds"
        elif held - check.held > MAX_BYTES:
            reason, text = "crash", f"{what} needs more than {format_bytes(MAX_BYTES)} of memory"
        else:
            return None
        self.stop()
        return ended(check.puzzle, reason, text, html=self.html)

    def stop(self) -> None:
        """Ends the process, whatever it is doing; the next `post` starts a fresh one."""
        self._check = None
        process, thread = self._process, self._thread
        self._process = self._thread = None
        if process is None or thread is None:
            return
        end_family(process.pid)
        process.wait()
        thread.join()
        for pipe in (process.stdin, process.stdout):
            # What was still to be written to a worker that is gone is lost on purpose.
            with contextlib.suppress(OSError):
                assert pipe is not None
                pipe.close()


def check_in_worker(puzzle: Puzzle, path: Path, *, own: bool, seed: int) -> Verdict:
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


_lock = threading.RLock()
_worker = Worker()
atexit.register(_worker.stop)


def _died(puzzle: Puzzle, death: Died) -> CheckOutcome:
    text = (
        f"the process that checked {puzzle.short_name} ended in the middle of it, with exit status "
        f"{death.status}"
    )
    return ended(puzzle, "crash", text)


def ended(puzzle: Puzzle, reason: str, text: str, *, html: bool = False) -> CheckOutcome:
    """Returns what a check that was ended, or that ended by itself, comes to."""
    step = "look for what grows or repeats far more than the puzzle asks for"
    said = (*fact(text), *section("try", step))
    found = Verdict(puzzle.name, "failed", reason, 0, puzzle.points, said, diagnosis=reason)
    return CheckOutcome(found, found._repr_html_() if html else "")


def end_family(pid: int) -> None:
    """Ends a process and those that it started.

    Forkservers see for themselves that they are asked no more, and put away the folders of their
    answers; killed at once, they could not. What does not end by itself is killed.
    """
    import psutil

    try:
        process = psutil.Process(pid)
        family = process.children(recursive=True)
        process.kill()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return
    _, left = psutil.wait_procs(family, PATIENCE_S)
    for each in left:
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            each.kill()


def exit_at_once() -> NoReturn:
    """Ends this process, whoever else is at work in it, and those that it started."""
    if not servers.available():
        # A forkserver ends with whoever asks it; a Python that was started for one answer need not.
        import psutil

        for each in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                each.kill()
    os._exit(0)


def _listen(process: subprocess.Popen[bytes], replies: queue.SimpleQueue[Any]) -> None:
    assert process.stdout is not None
    try:
        while True:
            replies.put(transport.read(process.stdout.read, OBJECTS))
    except (OSError, EOFError):
        pass
    except ValueError:
        # What says nonsense is no worker, and might never end by itself.
        process.kill()
    replies.put(None)


def _environment() -> dict[str, str]:
    """Returns an environment in which the worker finds the very packages that run here."""
    homes = (str(Path(each.__path__[0]).absolute().parent) for each in (gpu_course, simt))
    given = (*dict.fromkeys(homes), os.environ.get("PYTHONPATH"))
    paths = os.pathsep.join(filter(None, given))
    return {**os.environ, "PYTHONPATH": paths}


def _out_of_reach() -> dict[str, Any]:
    """Returns what keeps a Ctrl-C in the terminal from the worker."""
    if os.name == "nt":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}  # type: ignore[attr-defined]
    return {"start_new_session": True}

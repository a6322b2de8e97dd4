"""A warm worker: a process beside this one that checks answers, one at a time, and can be ended.

A check in it never holds up the keys of a terminal or the kernel of a notebook, and one that goes
on for too long is ended together with every process it started.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

import gpu_course
import simt
from gpu_course.grading.verdict import Verdict
from gpu_course.isolation import servers

PATIENCE_S = 2.0
"""What a process that is asked no more gets to put things away."""

COMMAND = (sys.executable, "-P", "-m", "gpu_course.grading.worker_process")
"""-P: a file beside the learner's notebook must not take the place of a module."""


@dataclass(frozen=True)
class Outcome:
    """A verdict as it travels between processes: text and numbers, no arrays.

    Attributes:
        name, status, reason, points, max_points, message, seconds: as in Verdict.
        html: the verdict as HTML, with its picture; "" where it was not asked for.
    """

    name: str
    status: str
    reason: str | None
    points: int
    max_points: int
    message: str
    seconds: float = 0.0
    html: str = ""

    @property
    def passed(self) -> bool:
        """True when the answer passed every case."""
        return self.status == "passed"


@dataclass(frozen=True)
class Died:
    """The worker ended by itself in the middle of a check.

    Attributes:
        status: its exit status; minus the number of a signal that ended it.
    """

    status: int


def outcome_of(verdict: Verdict, html: bool = False) -> Outcome:
    """Returns a verdict as an Outcome.

    Args:
        html: True to draw its HTML too.
    """
    return Outcome(
        verdict.name,
        verdict.status,
        verdict.reason,
        verdict.points,
        verdict.max_points,
        verdict.message,
        verdict.seconds,
        verdict._repr_html_() if html else "",
    )


def to_line(outcome: Outcome) -> str:
    """Returns an Outcome as one line of JSON."""
    return json.dumps(asdict(outcome))


class Worker:
    """Checks answers in a process of its own, started with the first check or by `warm`.

    Args:
        html: True to have every Outcome bring its HTML.
        command: what to start; default the course's own worker.
    """

    def __init__(self, *, html: bool = False, command: Sequence[str] = COMMAND) -> None:
        self.html = html
        self.busy = False
        """True from `post` until `poll` gave the answer."""
        self._command = list(command)
        self._process: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None
        self._replies: queue.SimpleQueue[str | None] = queue.SimpleQueue()

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
            text=True,
            encoding="utf-8",
            env=_environment(),
            **_apart(),
        )
        self._thread = threading.Thread(
            target=_listen, args=(self._process, self._replies), daemon=True
        )
        self._thread.start()

    def post(self, name: str) -> None:
        """Asks for the check of the learner's answer to a puzzle; `poll` brings the answer."""
        self.ask({"name": name})

    def ask(self, request: dict[str, Any]) -> None:
        """Asks with a request of plain data; `poll` brings the answer."""
        assert not self.busy, "one check at a time"
        self.warm()
        assert self._process is not None and self._process.stdin is not None
        self.busy = True
        # A worker that is gone already is told by `poll`.
        with contextlib.suppress(OSError):
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()

    def _read(self, line: str) -> Any:
        return Outcome(**json.loads(line))

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

    def poll(self, seconds: float = 0.0) -> Any:
        """Returns the answer to the last `post` if it is there, an Outcome or Died, else None.

        Args:
            seconds: how long to wait for it.
        """
        if not self.busy:
            return None
        try:
            line = self._replies.get(timeout=seconds) if seconds else self._replies.get_nowait()
        except queue.Empty:
            return None
        self.busy = False
        if line is not None:
            return self._read(line)
        assert self._process is not None
        status = self._process.wait()
        self.stop()
        return Died(status)

    def stop(self) -> None:
        """Ends the process, whatever it is doing; the next `post` starts a fresh one."""
        self.busy = False
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


def _listen(process: subprocess.Popen[str], replies: queue.SimpleQueue[str | None]) -> None:
    assert process.stdout is not None
    with contextlib.suppress(OSError, ValueError):
        for line in process.stdout:
            replies.put(line)
    replies.put(None)


def _environment() -> dict[str, str]:
    """Returns an environment in which the worker finds the very packages that run here."""
    homes = (str(Path(each.__path__[0]).absolute().parent) for each in (gpu_course, simt))
    given = (*dict.fromkeys(homes), os.environ.get("PYTHONPATH"))
    paths = os.pathsep.join(filter(None, given))
    return {**os.environ, "PYTHONPATH": paths}


def _apart() -> dict[str, Any]:
    """Returns what keeps a Ctrl-C in the terminal from the worker."""
    if os.name == "nt":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}  # type: ignore[attr-defined]
    return {"start_new_session": True}

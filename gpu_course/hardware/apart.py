"""Jobs one after the other in a process of their own: one that crashes or hangs loses only itself.

A bad access ends the whole process's use of a GPU, and a kernel that never ends holds it for ever.
So jobs run in a child, and the parent has a deadline for each. After a job that failed in any way
the next one gets a fresh child.

The child is `python -m gpu_course.hardware.apart MODULE:FUNCTION`. Jobs come in as lines of JSON,
and what the function returns for each goes out as one.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from gpu_course.isolation.deadline import Deadline

START_S = 60.0
"""How long a child may take until it has imported what it needs."""
DYING_S = 10.0
"""How long a killed child may take to go: a driver first has to stop what runs on the GPU."""
LOOK_S = 0.02
"""How often it is asked whether a child's time is over; an answer is taken at once."""
LAST_WORDS = 600

_READY = "ready"


@dataclass(frozen=True)
class JobOutcome:
    """What became of a job.

    Attributes:
        state: "done"; "error" where it raised; "crash" where its process ended; "hang" where it
            was ended at its deadline.
        value: what the job's function returned, where it is done.
        said: what is known of a failure, or "".
        seconds: from handing it over until the outcome; the start of a child is not counted.
    """

    state: str
    value: Any = None
    said: str = ""
    seconds: float = 0.0


class Apart:
    """A child that runs jobs; used in a `with` statement.

    Args:
        target: "module:function"; the function takes a job, made of JSON's types, and returns such.
        environment: what is different in the child's environment.
    """

    def __init__(self, target: str, environment: dict[str, str] | None = None) -> None:
        self.target = target
        self.environment = environment or {}
        self._child: _Child | None = None
        self._last_error = ""

    def __enter__(self) -> Apart:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def run(self, job: Any, deadline_s: float) -> JobOutcome:
        """Returns what became of a job."""
        if self._child is None:
            self._child = _Child(self.target, self.environment)
            if self._child.hear(START_S) != {"state": _READY}:
                said = self._child.last_words() or "no word came from it"
                self.end()
                return JobOutcome("crash", said=f"the process did not start: {said}")
        begin = time.perf_counter()
        self._child.tell(job)
        told = self._child.hear(deadline_s)
        seconds = time.perf_counter() - begin
        if told is not None and told["state"] == "done":
            return JobOutcome("done", told["value"], seconds=seconds)
        if told is not None:
            outcome = JobOutcome("error", said=told["said"], seconds=seconds)
        elif self._child.ended:
            said = f"the process ended with {self._child.status()}"
            words = self._child.last_words()
            said = f"{said}: {words}" if words else said
            outcome = JobOutcome("crash", said=said, seconds=seconds)
        else:
            outcome = JobOutcome("hang", said=f"no end after {deadline_s:g} s", seconds=seconds)
        if not self.end():
            left = "; the process could not be ended, and may still hold the GPU"
            outcome = JobOutcome(outcome.state, said=outcome.said + left, seconds=seconds)
        return outcome

    def end(self) -> bool:
        """Ends the child; False where it would not go."""
        child, self._child = self._child, None
        return child is None or child.end()


class _Child:
    """The process, as its parent sees it."""

    def __init__(self, target: str, environment: dict[str, str]) -> None:
        self._words = tempfile.TemporaryFile()  # noqa: SIM115  `end` closes it
        # Where this process finds its modules, the child does too.
        found = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "gpu_course.hardware.apart", target],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            env={**os.environ, **found, **environment},
        )
        self._told: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self.ended = False
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with contextlib.suppress(ValueError):  # half a line, of a process that died
                self._told.put(json.loads(line))
        self._told.put(None)

    def tell(self, job: Any) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it has ended, which `hear` says
            self._process.stdin.write(json.dumps(job).encode() + b"\n")
            self._process.stdin.flush()

    def hear(self, seconds: float) -> dict[str, Any] | None:
        """Returns what the child says next, or None; `ended` where it will say nothing more."""
        deadline = Deadline([self._process.pid], seconds)
        while True:
            with contextlib.suppress(queue.Empty):
                told = self._told.get(timeout=LOOK_S)
                self.ended = told is None
                return told
            if deadline.is_over():
                return None

    def status(self) -> str:
        try:
            code = self._process.wait(DYING_S)
        except subprocess.TimeoutExpired:
            return "no status"
        return f"signal {-code}" if code < 0 else f"status {code}"

    def last_words(self) -> str:
        """Returns the end of what the child wrote to its stderr."""
        self._words.seek(0)
        return " ".join(self._words.read().decode(errors="replace").split())[-LAST_WORDS:]

    def end(self) -> bool:
        self._process.kill()
        try:
            self._process.wait(DYING_S)
        except subprocess.TimeoutExpired:
            return False
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                assert pipe is not None
                pipe.close()
        self._words.close()
        return True


def serve(target: str, jobs: IO[bytes], out: int) -> None:
    """Runs the jobs that come in, until one of them fails or there are no more.

    Args:
        target: "module:function".
        jobs: a line of JSON each.
        out: the file descriptor that takes a line of JSON for each.
    """
    module, _, name = target.partition(":")
    run: Callable[[Any], Any] = getattr(importlib.import_module(module), name)
    _say(out, {"state": _READY})
    for line in jobs:
        job = json.loads(line)
        try:
            _say(out, {"state": "done", "value": run(job)})
        except Exception as error:
            traceback.print_exc()
            _say(out, {"state": "error", "said": _words_of(error)})
            return


def _words_of(error: Exception) -> str:
    words = " ".join(f"{type(error).__name__}: {error}".split())
    return words if len(words) <= LAST_WORDS else f"{words[: LAST_WORDS - 4]} ..."


def _say(out: int, told: dict[str, Any]) -> None:
    os.write(out, json.dumps(told).encode() + b"\n")


def main() -> int:
    """Serves on this process's own pipes."""
    # What a kernel or a library prints goes where errors go, and never among the answers.
    out = os.dup(1)
    os.dup2(2, 1)
    folder = str(Path.cwd())
    if folder not in sys.path and not sys.flags.safe_path:  # it may be a submission's
        sys.path.insert(0, folder)
    serve(sys.argv[1], sys.stdin.buffer, out)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""torch.profiler in a process of its own, so that what its library prints reaches no notebook.

A function of the learner goes there as text, and a Chrome trace comes back.
"""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.lessons.profiling.plants import Loop
from gpu_course.lessons.profiling.trace_file import Trace, read_trace

DEADLINE_S = 120.0
"""Wall clock of one recording: what takes longer has gone astray."""
_CHILD = "gpu_course.lessons.profiling.child"


def profiled(function: Callable[[], Any], stacks: bool = False) -> Trace:
    """Returns the trace of one call of a function, profiled in a process of its own.

    The function is sent as text: what it needs it imports, and names outside it are unknown there.

    Args:
        function: without parameters.
        stacks: True to record Python's own functions as well.

    Raises:
        CourseError: its text is not to be had, it raised, or it took too long.
    """
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError) as error:
        raise CourseError(
            f"the text of {getattr(function, '__name__', function)!s} is not to be found",
            "define it with def in a cell, and run that cell",
        ) from error
    asked = {"text": text, "name": function.__name__, "stacks": stacks}
    (path,) = _recorded(json.dumps([asked]))
    return read_trace(path)


def profiled_loops(loops: Sequence[Loop]) -> tuple[Trace, ...]:
    """Returns a trace of each loop, all recorded in one process, one after the other."""
    asked = json.dumps([{"loop": asdict(loop)} for loop in loops])
    return tuple(read_trace(path) for path in _recorded(asked))


@lru_cache(maxsize=1)
def _folder() -> tempfile.TemporaryDirectory[str]:
    """The folder of this session's traces, which goes when the session ends."""
    return tempfile.TemporaryDirectory(prefix="gpu_course_traces_")


def _recorded(asked: str) -> list[Path]:
    folder = Path(tempfile.mkdtemp(dir=_folder().name))
    try:
        done = subprocess.run(
            [sys.executable, "-m", _CHILD, str(folder)],
            input=asked,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=DEADLINE_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise CourseError(
            f"the profiled program was still running after {DEADLINE_S:.0f} s, and was ended",
            "profile fewer steps",
        ) from error
    paths = sorted(folder.glob("*.json"), key=lambda path: int(path.stem))
    if done.returncode or len(paths) != len(json.loads(asked)):
        raise CourseError(
            f"the profiled program stopped: {_last_line(done.stderr)}",
            "run the function by itself first; it has to import all that it names",
        )
    return paths


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if not line.startswith("USDT:")]
    return errors[-1][:200] if errors else "it said nothing"

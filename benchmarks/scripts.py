"""Measures how many scripts of a folder run unchanged: `python benchmarks/scripts.py FOLDER`.

Every Python file below the folder that names `numba.cuda` runs on the simulator in a process of its
own, in its own folder, without arguments, keyboard or screen. What cannot run on any machine like
this one is excluded, and each exclusion is printed with its reason: a module or a file that is not
there, a script that launches nothing, code that Numba refuses as well. Of the others, those that
came to their end count as run; hazards that they showed are told, and count as run too.

Scripts run as they are: measure only what you would run with Python itself.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from gpu_course.errors import CourseError
from simt.foreign.launches import Launches
from simt.foreign.script import PACKAGE, run_on_the_simulator, script_at

try:
    import resource
except ImportError:  # Windows, where the clock on the wall is the only limit
    resource = None  # type: ignore[assignment]

NAMES_CUDA = re.compile(
    r"from\s+numba\s+import[^\n]*\bcuda\b|(from|import)\s+numba\.cuda|target\s*=\s*['\"]cuda"
)
EXTENDS = re.compile(r"numba(\.cuda)?\.(extending|cudadecl|cudaimpl)|numba\.core\.extending")
RAN, EXCLUDED, REFUSED, FAILED, LATE = "ran", "excluded", "refused", "failed", "late"
CHILD = "--child"
# How much longer than its seconds of processor a script may take by the clock on the wall: on a
# busy machine most of that is waiting.
WALL_PER_CPU = 12


@dataclass
class ScriptOutcome:
    """What became of a script.

    Attributes:
        script: its path below the folder.
        what: RAN, EXCLUDED, REFUSED (by the simulator), FAILED (with an error) or LATE.
        reason: why; "" for one that ran.
        launches: how many it made.
        hazards: the kinds of hazards that are errors, and where.
    """

    script: str
    what: str
    reason: str
    launches: int = 0
    hazards: tuple[str, ...] = ()


def measured(scripts: list[Path], folder: Path, seconds: int) -> list[ScriptOutcome]:
    """Returns what became of each script that names `numba.cuda`."""
    found = []
    for path in scripts:
        text = path.read_text(encoding="utf-8", errors="replace")
        if NAMES_CUDA.search(text):
            found.append(one(path, str(path.relative_to(folder)), seconds))
            print(f"{found[-1].what:<9}{found[-1].script}  {found[-1].reason}", flush=True)
    return found


def one(path: Path, shown: str, seconds: int) -> ScriptOutcome:
    """Runs one script in a process of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        told = Path(scratch, "told.json")
        try:
            ended = subprocess.run(
                [sys.executable, __file__, CHILD, str(path.absolute()), str(told), str(seconds)],
                cwd=path.parent,
                env={**os.environ, "MPLBACKEND": "Agg", "TMPDIR": scratch},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=seconds if resource is None else WALL_PER_CPU * seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return ScriptOutcome(shown, LATE, f"not at its end after {seconds} s")
        if resource is not None and ended.returncode == -signal.SIGXCPU:
            return ScriptOutcome(shown, LATE, f"not at its end after {seconds} s")
        if not told.exists():
            return ScriptOutcome(shown, FAILED, "the process died")
        return ScriptOutcome(shown, **json.loads(told.read_text(encoding="utf-8")))


def child(path: Path, told: Path, seconds: int) -> None:
    """Runs a script in this process and writes what became of it."""
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    launches = Launches()
    ended: list[BaseException] = []
    sys.excepthook = lambda kind, error, trace: ended.append(error)
    status = run_on_the_simulator(script_at(path, [str(path)]), launches)
    error = ended[0] if ended else None
    what, reason = _judged(error, status, launches.counts.total(), path)
    hazards = tuple(
        f"{each.hazard.kind} {each.hazard.file}:{each.hazard.line}"
        for each in launches.findings
        if each.severity == "error"
    )
    found = ScriptOutcome("", what, reason, launches.counts.total(), hazards)
    rows = {name: value for name, value in asdict(found).items() if name != "script"}
    told.write_text(json.dumps(rows), encoding="utf-8")


def _judged(error: BaseException | None, status: int, launches: int, path: Path) -> tuple[str, str]:
    """What a run that ended so counts as, and why."""
    if error is None:
        if status:
            return EXCLUDED, f"ends with status {status} by itself: it wants arguments, or a GPU"
        return (RAN, "") if launches else (EXCLUDED, "launches no kernel")
    first = str(error).strip().partition("\n")[0][:300]
    told = f"{type(error).__name__}: {first}"
    if isinstance(error, CourseError) and "lanes: a GPU runs that many" in first:
        return LATE, first
    if isinstance(error, CourseError) and EXTENDS.search(path.read_text(errors="replace")):
        return REFUSED, f"it extends Numba's compiler: {first}"
    if isinstance(error, CourseError):
        own = "simulator" in first or "numba.cuda" in first
        return (REFUSED, first) if own else (EXCLUDED, f"Numba refuses it as well: {first}")
    where = traceback.extract_tb(error.__traceback__)
    line = where[-1].line or "" if where else ""
    if isinstance(error, SyntaxError):
        return EXCLUDED, f"Python {sys.version_info.major} cannot read it: {first}"
    if isinstance(error, ImportError) and PACKAGE in first:
        return REFUSED, first.partition(" (")[0]
    if isinstance(error, ImportError) and "numba.cuda" not in first and "simulator" not in first:
        return EXCLUDED, f"wants a module: {first}"
    if isinstance(error, EOFError):
        return EXCLUDED, "asks at the keyboard"
    if isinstance(error, FileNotFoundError):
        return EXCLUDED, f"wants a file: {first}"
    if "sys.argv" in line:
        return EXCLUDED, "wants arguments"
    if isinstance(error, NameError):
        return EXCLUDED, f"its own mistake: {first}"
    if isinstance(error, AttributeError) and "module 'numpy'" in first:
        return EXCLUDED, f"wants an older NumPy: {first}"
    if isinstance(error, TypeError) and "unexpected keyword" in first and "cuda" not in line:
        return EXCLUDED, f"wants an older library: {first}"
    if isinstance(error, MemoryError):
        return EXCLUDED, f"wants more memory: {first}"
    if where and not isinstance(error, AssertionError) and _is_library(where[-1].filename):
        return EXCLUDED, f"the library refuses it as well: {told}"
    return FAILED, f"{told}  [{line.strip()[:120]}]"


def _is_library(file: str) -> bool:
    """True for what scripts call, and for this project's stand-in for a part of it."""
    return "site-packages" in file or Path(file).is_relative_to(Path(PACKAGE, "foreign"))


def summary(outcomes: list[ScriptOutcome]) -> str:
    """Returns the share that ran unchanged, and all exclusions with their reasons."""
    counts = Counter(each.what for each in outcomes)
    lines = []
    for what, title in (
        (REFUSED, "refused by the simulator"),
        (FAILED, "failed"),
        (LATE, "too long for the simulator"),
        (EXCLUDED, "excluded"),
    ):
        lines += ["", f"{title}: {counts[what]}"]
        lines += [f"  {o.script}: {o.reason}" for o in outcomes if o.what == what]
    shown = [o for o in outcomes if o.what == RAN and o.hazards]
    lines += ["", f"ran, with errors in their kernels: {len(shown)}"]
    lines += [f"  {o.script}: {', '.join(o.hazards)}" for o in shown]
    tried = counts[RAN] + counts[REFUSED] + counts[FAILED]
    share = f"{100 * counts[RAN] / tried:.0f} %" if tried else "nothing to measure"
    lines += ["", f"ran unchanged: {counts[RAN]} of {tried} ({share})"]
    return "\n".join(lines)


def main(
    folder: Annotated[Path, typer.Argument(exists=True, file_okay=False)],
    seconds: Annotated[int, typer.Option(help="of processor that a script may take")] = 60,
    only: Annotated[
        Path | None, typer.Option(help="a file of paths below the folder, one a line")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="write the outcomes here, as JSON")] = None,
) -> None:
    """Measures how many of a folder's scripts for numba.cuda run unchanged on the simulator."""
    folder = folder.resolve()
    scripts = sorted(folder.rglob("*.py"))
    if only is not None:
        listed = set(only.read_text(encoding="utf-8").splitlines())
        scripts = [each for each in scripts if each.relative_to(folder).as_posix() in listed]
    outcomes = measured(scripts, folder, seconds)
    print(summary(outcomes))
    if out is not None:
        rows: list[dict[str, Any]] = [asdict(each) for each in outcomes]
        out.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == [CHILD]:
        child(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
    else:
        typer.run(main)

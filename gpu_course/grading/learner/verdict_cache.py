"""Verdicts on the learner's own answers, kept while nothing that they rest on has changed.

A kept verdict is what `check` said of the very same text, in the same version of the course, with
the same libraries. It spares `progress` a check; nobody is graded by it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import gpu_course
import simt
from gpu_course.grading import workspace
from gpu_course.grading.check import check
from gpu_course.grading.seeds import SEED_VARIABLE
from gpu_course.grading.verdicts.facts import REASONS
from gpu_course.grading.verdicts.sections import fact
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.puzzle import Puzzle, index
from simt.kernel.source import MAX_SOURCE_BYTES

FOLDER = "verdicts"
LIBRARIES = ("numpy", "numba", "torch")

# A crash, a deadline and a slip of the grader may be due to the machine, and the next check may
# well end in another way. What is not started is told at once without a check.
_KEPT: tuple[tuple[str, str | None], ...] = (
    ("passed", None),
    *(("failed", r) for r in REASONS if r not in (None, "crash", "deadline", "grader")),
)
_LOADED_AT = time.time()


def check_own(name: str | Puzzle, *, by: Callable[[Puzzle], Verdict] | None = None) -> Verdict:
    """Returns the verdict on the learner's own answer to a puzzle, and keeps it for `progress`.

    A pass is remembered for good.

    Args:
        name: as for `check`.
        by: what makes the verdict; default `check`.

    Raises:
        UnknownName: no puzzle is called that.
        CourseError: there is no folder of answers.
    """
    puzzle = name if isinstance(name, Puzzle) else index.find(name)
    key = key_of(puzzle)
    verdict = (by or check)(puzzle)
    keep(key, puzzle, verdict)
    if verdict.passed:
        workspace.remember_pass(puzzle.name)
    return verdict


def key_of(puzzle: Puzzle) -> str | None:
    """Returns what a verdict on the learner's answer rests on, as one hash.

    It is None where there is no answer, or where the course has been changed since it was loaded.
    A seed that is drawn afresh for each check counts as one and the same seed.
    """
    course = course_fingerprint()
    path = workspace.answer_path(puzzle)
    try:
        if course is None or not path.is_file() or path.stat().st_size > MAX_SOURCE_BYTES:
            return None
        text = _digest(path.read_bytes())
    except OSError:
        return None
    seed = os.environ.get(SEED_VARIABLE, "").strip()
    return _digest(json.dumps([course, puzzle.name, seed, text]).encode())


def keep(key: str | None, puzzle: Puzzle, verdict: Verdict) -> None:
    """Keeps a verdict, unless the answer was changed while it was checked.

    Args:
        key: what `key_of` gave before the check.
        puzzle: the puzzle.
        verdict: what the check gave. Only "passed" and "failed" are kept, and only where a second
            check is bound to say the same.
    """
    if key is None or (verdict.status, verdict.reason) not in _KEPT or key_of(puzzle) != key:
        return
    entry = {"key": key, "status": verdict.status, "reason": verdict.reason}
    # Where nothing can be written, the next check is made anew.
    with contextlib.suppress(OSError):
        workspace.write_text(_file(puzzle), json.dumps(entry) + "\n")


def kept(key: str | None, puzzle: Puzzle) -> Verdict | None:
    """Returns the verdict that was kept under a key, or None; whatever else lies there is ignored.

    Args:
        key: what `key_of` gives now.
        puzzle: the puzzle.
    """
    if key is None:
        return None
    try:
        entry = json.loads(_file(puzzle).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or entry.get("key") != key:
        return None
    told = (entry.get("status"), entry.get("reason"))
    # Compared one by one: what a strange file holds need not be hashable.
    found = next((each for each in _KEPT if each == told), None)
    if found is None:
        return None
    status, reason = found
    points = puzzle.points if status == "passed" else 0
    said = tuple(fact(f"{status} when this text was checked last"))
    return Verdict(puzzle.name, status, reason, points, puzzle.points, said)


@functools.cache
def course_fingerprint() -> str | None:
    """Returns the hash of the course that runs here and of what it runs on; see `fingerprint`."""
    found = [fingerprint(Path(each.__path__[0]), _LOADED_AT) for each in (gpu_course, simt)]
    return None if None in found else _digest(json.dumps(found).encode())


def fingerprint(package: Path, loaded_at: float) -> str | None:
    """Returns one hash of a package's files, of Python and of the libraries.

    Every file of the package counts, since no list of those that can change a verdict would stay
    complete.

    Args:
        package: its folder.
        loaded_at: when it was loaded, in seconds since the epoch. Where a file has been changed
            since, what runs is not what lies there, and the result is None.
    """
    parts = [sys.version, sys.platform, platform.machine()]
    parts += [f"{name} {_version(name)}" for name in LIBRARIES]
    try:
        for path in sorted(package.rglob("*")):
            if "__pycache__" in path.parts or not path.is_file():
                continue
            if path.stat().st_mtime > loaded_at:
                return None
            parts += [path.relative_to(package).as_posix(), _digest(path.read_bytes())]
    except OSError:
        return None
    return _digest(json.dumps(parts).encode())


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "none"


def _file(puzzle: Puzzle) -> Path:
    return workspace.state_folder() / FOLDER / f"{puzzle.name}.json"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()

"""A kernel's file is checked in a process that can be ended, and the grader goes on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_course.grading import check, grade, workspace
from gpu_course.grading import worker as worker_module
from gpu_course.grading.check import check_here
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.grading.worker import Worker
from gpu_course.puzzle import index
from tests.gpu_course.grading import toy

NAMES = ("01_threads/guard", "01_threads/clip")
ASKED = "import sys, time\nsys.stdin.buffer.read(1)\n"
HANGS = f"{ASKED}time.sleep(1000)"
ROOT = Path(__file__).parents[3]
COMPUTES = f"{ASKED}while True: pass"
HOLDS = f"{ASKED}held = b'x' * (1 << 27)\ntime.sleep(1000)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Right answers to two puzzles."""
    for name in NAMES:
        text = (ROOT / "solutions" / f"{name}.py").read_text(encoding="utf-8")
        workspace.write_text(tmp_path / "puzzles" / f"{name}.py", text)
    return tmp_path / "puzzles"


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The command of the process that is asked; afterwards it is the course's own again."""
    made = Worker()
    monkeypatch.setattr(worker_module, "_worker", made)
    yield made._command
    made.stop()


def plain(verdict: Verdict) -> str:
    return replace(verdict, seconds=0.0)._repr_html_()


def test_it_says_what_a_check_in_this_process_says(tmp_path: Path) -> None:
    puzzle = index.find("guard")
    path = tmp_path / "guard.py"
    right = (ROOT / "solutions" / f"{puzzle.name}.py").read_text(encoding="utf-8")
    for text in (right, right.replace("+ 10", "+ 11"), right.replace("if i < size", "if i >= 0")):
        path.write_text(text, encoding="utf-8")
        here = check_here(puzzle, answer=path, seed=0)
        there = check("guard", answer=path, seed=0)
        assert plain(there) == plain(here)
        assert there.hazards == here.hazards and there.counters == here.counters


def test_the_process_stays_for_the_next_check(folder: Path) -> None:
    pids = set()
    for name in NAMES:
        assert check(name, answer=folder).passed
        assert worker_module._worker._process is not None
        pids.add(worker_module._worker._process.pid)
    assert len(pids) == 1


@pytest.mark.parametrize(
    ("program", "limit", "reason", "said"),
    [
        (HANGS, "WAITING_S", "deadline", "was not done after"),
        (COMPUTES, "COMPUTING_S", "deadline", "was not done after"),
        (HOLDS, "MAX_BYTES", "crash", "of memory"),
        (f"{ASKED}raise SystemExit(3)", "", "crash", "with exit status 3"),
    ],
)
def test_a_check_that_goes_astray_is_ended_and_the_next_puzzle_graded(
    folder: Path,
    stand_in: list[str],
    monkeypatch: pytest.MonkeyPatch,
    program: str,
    limit: str,
    reason: str,
    said: str,
) -> None:
    stand_in[:] = [sys.executable, "-c", program]
    if limit:
        monkeypatch.setattr(worker_module, limit, 1 << 26 if limit == "MAX_BYTES" else 0.01)
    verdict = check(NAMES[0], answer=folder)
    assert (verdict.status, verdict.reason) == ("failed", reason), verdict.message
    assert said in verdict.fact and "try:" in verdict.message
    monkeypatch.undo()
    assert [v.status for v in grade(folder, only=NAMES)] == ["passed", "passed"]


def test_a_puzzle_of_nobody_s_course_is_checked_here() -> None:
    assert index.is_of_the_course(index.find("guard"))
    assert not index.is_of_the_course(toy.TOY)
    assert not index.is_of_the_course(replace(index.find("guard"), points=3))

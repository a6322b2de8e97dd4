"""The grader says the same word for word whether launches are interpreted or run compiled.

It watches who does how much of the work, which only the interpreter tells. So each check is made
once as ever, and once by a grader that does not watch and launches compiled wherever that can be.
"""

from __future__ import annotations

from typing import Any

import pytest

from gpu_course.grading.check import check_here
from gpu_course.grading.kernel import trial
from gpu_course.grading.kernel.answers import mistake_answer
from gpu_course.puzzle import KernelPuzzle, Puzzle, index
from simt.compiled import filter as switch
from simt.compiled import jit, run
from simt.simulator import simulate
from tests.course.puzzles.by_hand import SOLUTIONS
from tests.sampling import drawn, share

pytestmark = [
    pytest.mark.skipif(not jit.available(), reason="no LLVM to compile with"),
    pytest.mark.long(40),
]
LESSONS = ("01", "02", "03", "04", "05", "06")
PUZZLES = [
    puzzle
    for puzzle in index.puzzles()
    if isinstance(puzzle, KernelPuzzle) and puzzle.name.startswith(LESSONS)
]
FEW = 15
TRIED = [p for p in PUZZLES if drawn(f"compiled {p.name}", share(FEW, of=len(PUZZLES)))]


def answers(puzzle: KernelPuzzle) -> list[tuple[str, Any]]:
    """Returns its solution, and two of its mistakes."""
    mistakes = [
        (each.function, mistake_answer(puzzle, each, SOLUTIONS)) for each in puzzle.mistakes[:2]
    ]
    return [("solution", SOLUTIONS), *mistakes]


def verdict(puzzle: Puzzle, answer: Any) -> list[str]:
    """Returns what the grader says, and what it says it by."""
    found = check_here(puzzle, answer=answer, seed=0)
    hazards = [f"{each.kind} {each.line} {each.message} {each.threads}" for each in found.hazards]
    counted = found.counters.as_dict() if found.counters is not None else {}
    ends = [found.status, found.reason, found.diagnosis]
    return [found.message, *map(str, ends), *hazards, str(counted)]


@pytest.fixture
def unwatched(monkeypatch: pytest.MonkeyPatch) -> None:
    """The grader launches as it does, and does not watch."""

    def launched(kernel: Any, *, observers: Any = (), **options: Any) -> Any:
        return simulate(kernel, **options)

    monkeypatch.setattr(trial, "simulate", launched)
    monkeypatch.setattr(jit, "LEVEL", 0)


def both(
    monkeypatch: pytest.MonkeyPatch, puzzle: KernelPuzzle, answer: Any
) -> tuple[list[str], list[str]]:
    said = []
    for how in (switch.OFF, switch.ALWAYS):
        monkeypatch.setenv(switch.VARIABLE, how)
        said.append(verdict(puzzle, answer))
    run.forget()
    return said[0], said[1]


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of kernels whose launches have run compiled, and clean."""
    kernels: list[str] = []
    clean = switch.Filter.clean

    def kept(self: Any, setting: Any, *more: Any) -> bool:
        done = clean(self, setting, *more)
        if done:
            kernels.append(setting.code.kernel.name)
        return done

    monkeypatch.setattr(switch.Filter, "clean", kept)
    return kernels


def test_verdicts_are_the_same(monkeypatch: pytest.MonkeyPatch, ran: list[str]) -> None:
    monkeypatch.setattr(jit, "LEVEL", 0)
    for puzzle in TRIED:
        for name, answer in answers(puzzle):
            off, always = both(monkeypatch, puzzle, answer)
            assert off == always, f"{puzzle.name}: {name}"
    assert len(ran) > 2 * len(TRIED) > 0


@pytest.mark.usefixtures("unwatched")
def test_verdicts_of_compiled_launches_are_the_same(
    monkeypatch: pytest.MonkeyPatch, ran: list[str]
) -> None:
    for puzzle in TRIED:
        off, always = both(monkeypatch, puzzle, SOLUTIONS)
        assert off == always, puzzle.name
    assert len(ran) > 4 * len(TRIED) > 0

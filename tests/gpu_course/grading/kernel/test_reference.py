"""The reference solution is run once for each case, whoever asks, until its text changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_course.grading import check
from gpu_course.grading.kernel import trial
from gpu_course.puzzle import index
from gpu_course.puzzle.specification import KernelPuzzle
from tests.gpu_course.grading import toy

SOLUTIONS = Path(__file__).parents[4] / "solutions"


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[trial.Given]:
    """What is tried from here on, in order; no reference is kept from before."""
    found: list[trial.Given] = []
    attempt = trial.attempt

    def noted(given: trial.Given, *more: Any, **named: Any) -> trial.Trial:
        found.append(given)
        return attempt(given, *more, **named)

    monkeypatch.setattr(trial, "attempt", noted)
    trial._reference_trial.cache_clear()
    return found


def toy_given(seed: int) -> trial.Given:
    return trial.prepare(toy.TOY, toy.TOY.cases[0], seed)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "90_toys").mkdir()
    monkeypatch.setattr(trial, "solutions_folder", lambda: tmp_path)
    file = tmp_path / "90_toys" / "plus_ten.py"
    file.write_text(toy.RIGHT)
    return file


def test_the_same_case_is_run_once(runs: list[trial.Given], folder: Path) -> None:
    first = trial.reference_trial(toy.TOY, toy_given(0))
    given = toy_given(0)
    second = trial.reference_trial(toy.TOY, given)
    assert len(runs) == 1
    assert second.counters == first.counters and second.given is given
    assert first.counters.global_load.requests > 0 and first.shares


def test_other_numbers_are_another_case(runs: list[trial.Given], folder: Path) -> None:
    for seed in (0, 1):
        trial.reference_trial(toy.TOY, toy_given(seed))
    assert len(runs) == 2


def test_another_text_is_another_reference(runs: list[trial.Given], folder: Path) -> None:
    before = trial.reference_trial(toy.TOY, toy_given(0))
    folder.write_text(toy.RIGHT.replace("a[i] + 10", "a[i] + a[i] - a[i] + 10"))
    after = trial.reference_trial(toy.TOY, toy_given(0))
    assert len(runs) == 2
    assert after.counters.global_load.requests > before.counters.global_load.requests


def test_a_check_runs_each_case_of_the_reference_once_at_most(runs: list[trial.Given]) -> None:
    puzzle = index.find("transpose_tiled")
    assert isinstance(puzzle, KernelPuzzle)
    answer = f"{SOLUTIONS / puzzle.name}.py:transpose_tiled"
    cases = len(puzzle.cases) + 1
    assert check(puzzle, answer=answer, seed=0).passed
    # Both orders of each case, and the reference.
    assert len(runs) <= 3 * cases
    of_one = len(runs)
    assert check(puzzle, answer=answer, seed=0).passed
    assert len(runs) == of_one + 2 * cases


def test_the_reference_holds_no_touches(runs: list[trial.Given], folder: Path) -> None:
    found = trial.reference_trial(toy.TOY, toy_given(0))
    assert all(report.touches == () for report in found.reports)
    np.testing.assert_array_equal(found.got["out"], found.given.expected["out"])

"""The part of a long series that is run is the same each time, and is the share it says."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_course.grading.seeds import default_seed
from tests import sampling
from tests.conftest import seconds_of_file

ROOT = Path(__file__).parents[1]
NAMES = [f"test_{number}" for number in range(4000)]


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sampling, "EVERYTHING", False)
    yield
    sampling.draw_seed.cache_clear()


def part(share: float, *, always_the_same: bool = False) -> list[str]:
    return [n for n in NAMES if sampling.drawn(n, share, always_the_same=always_the_same)]


@pytest.mark.usefixtures("in_parts")
def test_the_same_part_is_drawn_each_time() -> None:
    assert part(0.25) == part(0.25)
    assert 850 < len(part(0.25)) < 1150
    assert part(0) == [] and part(1) == NAMES


@pytest.mark.usefixtures("in_parts")
def test_a_few_are_a_few_however_long_the_series_is() -> None:
    for length in (400, 1000, 4000):
        series = NAMES[:length]
        found = [name for name in series if sampling.drawn(name, sampling.share(100, of=length))]
        assert 50 < len(found) < 150  # a share of this size is off by 10, give or take
    assert sampling.share(10, of=3) == sampling.share(10, of=0) == 1.0


@pytest.mark.usefixtures("in_parts")
def test_another_draw_has_another_part(monkeypatch: pytest.MonkeyPatch) -> None:
    before, always = set(part(0.25)), part(0.25, always_the_same=True)
    monkeypatch.setattr(sampling, "DRAW", "7")
    sampling.draw_seed.cache_clear()
    both = before & set(part(0.25))
    assert 150 < len(both) < 350  # a sixteenth of all
    assert part(0.25, always_the_same=True) == always and 850 < len(always) < 1150


def test_everything_is_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "EVERYTHING", True)
    assert part(0.01) == NAMES
    assert sampling.examples(500, few=5) == 500


@pytest.mark.parametrize(("said", "draw"), [("7", "7"), ("", "1")])
def test_make_says_which_draw_it_is(said: str, draw: str) -> None:
    code = "from tests.sampling import DRAW; print(DRAW)"
    command = [sys.executable, "-c", code]
    env = {**os.environ, "GPU_COURSE_DRAW": said}
    found = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == draw


def test_a_check_of_a_test_draws_the_same_case_each_time() -> None:
    assert default_seed() == default_seed()


def test_files_that_say_they_are_long_come_first(request: pytest.FixtureRequest) -> None:
    order = [seconds_of_file(item) for item in request.session.items]
    assert order == sorted(order, reverse=True)
    module = request.node.getparent(pytest.Module)
    assert seconds_of_file(request.node) == 0
    module.add_marker(pytest.mark.long(7))
    try:
        assert seconds_of_file(request.node) == 7
    finally:
        module.own_markers.pop()

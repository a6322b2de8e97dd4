"""What lesson 32 shows: intervals, shares, pairs that give a goodput, and runs by chance."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gpu_course.errors import CourseError
from gpu_course.grading.workspace import ANSWERS_VARIABLE
from gpu_course.lessons.failures import shows
from gpu_course.lessons.failures.cluster import (
    DAY_S,
    HOUR_S,
    LLAMA_3_GPU_HOURS,
    best_interval_s,
    expected_goodput,
    run,
)
from gpu_course.lessons.failures.pictures import duration
from gpu_course.notebook.note import Note
from gpu_course.notebook.pictures import Picture
from tests.gpu_course.draw.readable import assert_readable
from tests.gpu_course.notebook.tutor.test_feedback import SOLUTIONS


def readable(shown: object) -> str:
    """Returns the alt text of a picture that can be read at half a window."""
    assert isinstance(shown, Picture), shown
    assert_readable(shown.figure)
    return repr(shown)


def test_llama_3_s_rate_is_that_of_its_table() -> None:
    assert shows.cluster_of().mtbf_s == pytest.approx(54 * 24 * HOUR_S / 419)
    assert 50_600 < LLAMA_3_GPU_HOURS < 50_700


def test_one_job_tells_its_failures_and_draws_them() -> None:
    text, bars, curve = shows.one_job()
    assert text.startswith("a failure every 3.05 h; ten days of training took 11.7 d")
    assert "training 85" in readable(bars) and "The highest of these" in readable(curve)


@pytest.mark.parametrize(("interval_min", "told"), [(30, True), (60, True), (1, False)])
def test_the_curve_shows_where_the_job_s_own_interval_lies(interval_min: int, told: bool) -> None:
    """One that is off the axis is left out."""
    curve = readable(shows.one_job(interval_min=interval_min)[2])
    assert (f"yours: {duration(60 * interval_min)}." in curve) is told


def test_what_the_second_prediction_says_of_writing_too_often_and_too_rarely() -> None:
    often = run(shows.cluster_of(interval_min=1), 60 * DAY_S)
    assert often.seconds["writing"] / often.wall_s == pytest.approx(1 / 2, abs=0.05)
    rarely = run(shows.cluster_of(interval_min=180), 60 * DAY_S)
    lost, kept = rarely.seconds["lost"], rarely.seconds["training"]
    assert lost / (lost + kept) == pytest.approx(2 / 5, abs=0.03)


def test_the_middle_of_the_simulated_intervals_is_the_best() -> None:
    job = shows.cluster_of()
    data = shows.goodputs(job, {})
    middle = data.intervals_s[len(data.intervals_s) // 2]
    assert middle == pytest.approx(best_interval_s(job))
    # Simulated and expected goodput agree to within what three jobs of five days tell.
    for interval, found in zip(data.intervals_s, data.found, strict=True):
        assert np.mean(found) == pytest.approx(
            expected_goodput(job.saving_every(interval)), abs=0.06
        )


def test_a_job_that_gets_nowhere_is_told() -> None:
    said = shows.one_job(gpus=100_000, gpu_hours_a_failure=12_500, interval_min=180, restart_min=30)
    assert isinstance(said, Note) and "fails faster than it gets on" in repr(said)


def test_copies_in_memory_lose_less_of_the_same_failures() -> None:
    disk = shows.cluster_of(interval_min=20, switch_mtbf_s=64 * 60 * HOUR_S)
    memory = shows.in_memory(disk, every_s=60, disk_every=30)
    said = readable(shows.jobs({"disk": disk, "memory": memory}))
    assert "switch" in said and said.index("disk: training 8") < said.index("memory: training 9")


@pytest.mark.parametrize("goodput", [0.85, 0.97])
@pytest.mark.parametrize("stop_s", [1.0, 3.0])
def test_a_restart_gives_the_goodput_it_was_found_for(goodput: float, stop_s: float) -> None:
    restart_s = shows.restart_for(goodput, 3.09 * HOUR_S, stop_s)
    job = shows.cluster_of(gpus=8, gpu_hours=8 * 3.09, stop_s=stop_s, restart_min=restart_s / 60)
    assert expected_goodput(job.saving_every(best_interval_s(job))) == pytest.approx(goodput)


def test_a_goodput_that_no_restart_gives_has_none() -> None:
    assert math.isnan(shows.restart_for(0.97, 3.09 * HOUR_S, 60.0))
    assert "goodput 97%: a restart may take" in readable(shows.contours([0.85, 0.97], 3.09))
    assert isinstance(shows.contours([0.9999], 0.1), Note)


def test_the_longest_of_many_runs_is_what_drawing_them_gives() -> None:
    rng = np.random.default_rng(1)
    drawn = np.sort(rng.exponential(0.5, (20_000, 50)), axis=1)[:, ::-1][:, :3]
    found = shows.longest_of(50, 0.5, (2.8, 2.0, 1.5))
    for share, got in ((0.05, found.low), (0.5, found.middle), (0.95, found.high)):
        assert got == pytest.approx(np.quantile(drawn, share, axis=0), rel=0.03)
    # What the logbook has lies where chance puts nine of ten.
    for seen, low, high in zip(found.seen_days, found.low, found.high, strict=True):
        assert low < seen < high
    assert "the second: 2 days in the logbook" in readable(shows.longest())


def test_one_run_is_rarely_as_long() -> None:
    assert shows.chance_of_a_run(2.8, 12) == pytest.approx(math.exp(-5.6))
    assert shows.chance_of_a_run(0, 12) == 1


def test_ones_own_intervals_and_account_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(SOLUTIONS))
    assert "Young: 19.3 min" in readable(shows.own_interval(shows.cluster_of()))
    said = shows.own_goodput_text()
    assert isinstance(said, str) and max(map(len, said.splitlines())) <= 72
    for line in said.splitlines()[2:]:
        shares = [float(each.rstrip("%")) for each in line.split()[-4:]]
        assert sum(shares) == pytest.approx(100, abs=0.2)


def test_without_an_answer_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(tmp_path))
    assert isinstance(shows.own_interval(shows.cluster_of()), Note)
    assert isinstance(shows.own_goodput_text(), Note)


@pytest.mark.parametrize("puzzle", ["optimal_interval", "goodput"])
def test_an_answer_of_another_form_is_told(puzzle: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shows, "own_result", lambda *asked: None)
    call = (
        shows.own_goodput_text
        if puzzle == "goodput"
        else lambda: shows.own_interval(shows.cluster_of())
    )
    assert isinstance(call(), Note)


@pytest.mark.parametrize(
    ("told", "says"),
    [
        (lambda: shows.jobs(7), "here is 7"),  # type: ignore[arg-type]
        (lambda: shows.jobs({"disk": 20}), "here is 20"),  # type: ignore[dict-item]
        (lambda: shows.one_job(gpus="1024"), "gpus is '1024'\n  try:    give a number"),  # type: ignore[arg-type]
        (lambda: shows.intervals(shows.cluster_of(gpus=64, stop_s=-1)), "stop_s is -1"),
    ],
)
def test_what_is_typed_into_a_cell_and_cannot_be_is_told(
    told: Callable[[], object], says: str
) -> None:
    assert says in str(told())


def test_a_cluster_says_which_fields_it_has() -> None:
    with pytest.raises(CourseError, match="has no repairs") as caught:
        shows.cluster_of(repairs=3)
    assert "repair_s" in caught.value.hint
    with pytest.raises(CourseError, match="interval_min is None"):
        shows.cluster_of(interval_min=None)  # type: ignore[arg-type]

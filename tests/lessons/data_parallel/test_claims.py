"""What a backward pass hides, against a simulation in small steps, and the rows of lesson 22."""

from __future__ import annotations

import pytest

from gpu_course.claims.kinds import Kind
from gpu_course.claims.published import forecasts, rows
from gpu_course.errors import CourseError
from gpu_course.lessons.data_parallel.claims import data_parallel as models
from gpu_course.lessons.data_parallel.overlap import bucket_sizes, exposed_s, sent_buckets
from gpu_course.measure.alpha_beta import Link, ring_all_reduce_s

LESSON = "22_data_parallel"


@pytest.mark.parametrize("sizes", [[4e6], [1e6] * 4, [1e6, 2e6, 1e6], [3e6, 1e6]])
@pytest.mark.parametrize("rate", [2e8, 2e9])
def test_messages_end_when_a_clock_of_small_ticks_says(sizes: list[float], rate: float) -> None:
    link, backward_s, tick = Link(2e-4, rate), 0.02, 1e-6
    now, made, waiting, busy_until, left = 0.0, 0.0, list(sizes), 0.0, len(sizes)
    total, due = sum(sizes), sizes[0]
    while left:
        now += tick
        made = min(total, made + total * tick / backward_s)
        if waiting and made >= due * (1 - 1e-12) and now >= busy_until:
            busy_until = now + ring_all_reduce_s(8, waiting.pop(0), link)
            due += waiting[0] if waiting else 0
        if not waiting and now >= busy_until:
            left = 0
    waits = exposed_s(sent_buckets(sizes, backward_s, 8, link), backward_s)
    assert waits == pytest.approx(max(0.0, now - backward_s), abs=5 * len(sizes) * tick)


def test_the_last_bucket_is_never_hidden() -> None:
    link = Link(1e-5, 1e12)
    for many in (1, 3, 50):
        sent = sent_buckets([1e9 / many] * many, 0.5, 4, link)
        assert exposed_s(sent, 0.5) >= ring_all_reduce_s(4, 1e9 / many, link) * (1 - 1e-9)


def test_buckets_hold_all_bytes_and_none_is_empty() -> None:
    assert bucket_sizes(100, 40) == [40, 40, 20]
    assert bucket_sizes(80, 40) == [40, 40]
    for sizes in (bucket_sizes(1e9, 25 * 2**20), bucket_sizes(1e9, 25 * 2**20, 2**20)):
        assert sum(sizes) == pytest.approx(1e9) and min(sizes) > 0
    with pytest.raises(CourseError):
        bucket_sizes(100, 0)


def test_adding_up_comes_within_a_sixteenth_and_hiding_does_not() -> None:
    place = "1.34B on 8 to 256 GPUs, "
    added, hidden = (
        rows(LESSON, place + each) for each in ("nothing hidden", "all sending hidden")
    )
    assert len(added) == len(hidden) == 5
    assert max(abs(row.mine / row.published - 1) for row in added) < 1 / 16
    assert max(row.mine / row.published - 1 for row in hidden) > 0.5


def test_without_anything_to_send_all_gpus_are_as_quick() -> None:
    for gpus in (8, 64, 256):
        for model in (models.tokens_per_s_if_hidden, models.tokens_per_s_if_exposed):
            assert model(gpus, 1e12, 40_000) == pytest.approx(40_000)


def test_a_gpu_that_keeps_its_rows_computes_for_most_of_a_step() -> None:
    for row in rows(LESSON, "1.34B on 8 to 256 GPUs, nothing hidden"):
        gpus = row.arguments["gpus"]
        same = models.computing_share(**row.arguments)
        assert same == pytest.approx(row.mine / row.arguments["at_8_gpus"])
        kept = models.computing_share(**row.arguments, sequences=32 * gpus)
        # The sending takes as long; the computing gpus / 8 times as long.
        assert (1 / kept - 1) * gpus / 8 == pytest.approx(1 / same - 1)
        assert same < kept and kept > 0.9
    assert same < 0.4


def test_a_third_of_what_is_forecast_must_fail_and_names_why() -> None:
    asked = forecasts(LESSON)
    assert len(asked) == 3
    assert [row.breaks for row in asked if row.breaks] == ["overlap"]


def test_nothing_hidden_is_inside_and_all_hidden_is_not() -> None:
    place = "1.34B on 8 to 256 GPUs, "
    added, hidden = (
        rows(LESSON, place + each) for each in ("nothing hidden", "all sending hidden")
    )
    assert {row.kind for row in (*added, *hidden)} == {Kind.scaled}
    assert [row.holds for row in added] == [True] * 5
    assert [row.holds for row in hidden] == [True, False, False, False, False]
    assert {row.breaks for row in hidden if row.holds is False} == {"overlap"}

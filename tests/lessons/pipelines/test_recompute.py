"""Recomputation in a pipeline's bubble, against closed forms and the plain simulation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_course.errors import CourseError
from gpu_course.lessons.pipelines.recompute import RECOMPUTE, bubble_share, hidden, run
from gpu_course.measure.pipelines import orders
from gpu_course.measure.pipelines.actions import parse
from gpu_course.measure.pipelines.timing import Costs, simulate

small = st.integers(1, 6)


@given(ranks=small, microbatches=st.integers(1, 12), forward=small, backward=small)
def test_closed_forms(ranks: int, microbatches: int, forward: int, backward: int) -> None:
    """The first gradient is waited for at p - 1 ranks, and each hides one recomputation."""
    p, m, f, b = ranks, microbatches, forward, backward
    of = orders.gpipe(p, m)
    times = {how: run(of, how, f, b).time for how in RECOMPUTE}
    assert times["none"] == (m + p - 1) * (f + b)
    assert times["waiting"] == (m + p - 1) * (2 * f + b)
    assert times["waiting"] - times["early"] == (p - 1) * f
    assert hidden(p, m, f, b) == pytest.approx((p - 1) / (m + p - 1))
    share = (p - 1) * (f + b) / ((m + p - 1) * (f + b))
    assert bubble_share(p, m, "none", f, b) == pytest.approx(share)
    assert bubble_share(p, m, "waiting", f, b) == pytest.approx(share)
    early = (p - 1) * (f + b) / (m * (2 * f + b) + (p - 1) * (f + b))
    assert bubble_share(p, m, "early", f, b) == pytest.approx(early)


def test_four_times_as_many_microbatches_are_few_or_many_by_what_is_assumed() -> None:
    for ranks in (2, 4, 8):
        shares = [bubble_share(ranks, 4 * ranks, how) for how in ("none", "early")]
        assert 0.08 < shares[1] < shares[0] < 0.2


@given(ranks=small, microbatches=st.integers(1, 8), backward=small)
def test_the_last_microbatch_needs_no_second_run(
    ranks: int, microbatches: int, backward: int
) -> None:
    """On the last rank it goes back right after it went down: nothing hides a second run."""
    times = [
        bubble_time(ranks, microbatches, how, backward) for how in ("early", "early but the last")
    ]
    assert times[0] - times[1] == 1


def bubble_time(ranks: int, microbatches: int, how: str, backward: int) -> float:
    """Returns how long GPipe takes with the newest microbatch first on the way back."""
    lines = [
        " ".join(
            [f"{rank}F{each}" for each in range(microbatches)]
            + [f"{rank}B{each}" for each in reversed(range(microbatches))]
        )
        for rank in range(ranks)
    ]
    return run(parse(lines), how, 1, backward).time


@pytest.mark.parametrize("make", [orders.gpipe, orders.one_f_one_b])
def test_without_recomputation_it_is_the_plain_simulation(make: object) -> None:
    assert callable(make)
    times = [1.0, 3.0, 0.5, 2.0]
    schedule = make(4, 9)
    ours = run(schedule, "none", times.__getitem__, lambda stage: 2 * times[stage])
    costs = Costs(times.__getitem__, lambda stage: 2 * times[stage], 0)
    theirs = simulate(schedule, costs)
    assert ours.time == theirs.end
    assert [[step.end for step in order] for order in ours.steps] == [
        [span.end for span in order] for order in theirs.spans
    ]


def test_stages_that_are_not_alike_wait_for_the_slowest() -> None:
    """The slowest stage of three works all the time but while it fills and drains."""
    even = bubble_share(3, 12, "early")
    uneven = bubble_share(3, 12, "early", lambda s: [1, 2, 1][s], lambda s: [2, 4, 2][s])
    assert uneven > even
    busy = run(orders.gpipe(3, 12), "early", lambda s: [1, 2, 1][s], lambda s: [2, 4, 2][s]).busy
    assert busy == (48, 96, 48)


def test_a_second_run_comes_before_its_backward_pass_and_only_there() -> None:
    steps = run(orders.gpipe(2, 2), "early").steps
    assert [[f"{step.kind}{step.microbatch}" for step in order] for order in steps] == [
        ["F0", "F1", "R0", "B0", "R1", "B1"]
    ] * 2
    assert [step.start for step in steps[0]] == [0, 1, 2, 6, 8, 9]


def test_what_is_refused() -> None:
    with pytest.raises(CourseError, match="recomputation is not 'late'"):
        run(orders.gpipe(2, 2), "late")
    with pytest.raises(CourseError, match="rank 1 never does 1B0"):
        run(parse(["0F0 0B0", "1F0"]), "early")

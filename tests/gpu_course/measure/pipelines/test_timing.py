"""What a pipeline schedule takes, against closed forms and against a count of ticks."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_course.errors import CourseError
from gpu_course.measure.pipelines.actions import FORWARD, Action, Schedule, parse
from gpu_course.measure.pipelines.orders import (
    breadth_first,
    gpipe,
    interleaved,
    one_f_one_b,
    zb_h1,
    zb_h2,
)
from gpu_course.measure.pipelines.rules import faults
from gpu_course.measure.pipelines.timing import Costs, Run, as_far_as_it_goes, simulate

small = st.integers(1, 5)


@given(ranks=small, microbatches=small, times=st.tuples(small, small, small))
def test_closed_forms(ranks: int, microbatches: int, times: tuple[int, int, int]) -> None:
    f, i, w = times
    costs, m, p = Costs(f, i, w), microbatches, ranks
    for make in (gpipe, one_f_one_b):
        assert simulate(make(p, m), costs).cost == (m + p - 1) * (f + i + w)


@given(ranks=small, microbatches=st.integers(1, 3), chunks=st.integers(1, 4))
def test_chunks_divide_the_bubble(ranks: int, microbatches: int, chunks: int) -> None:
    p, m, v = ranks, ranks * microbatches, chunks
    run = simulate(interleaved(p, m, v), Costs(1 / v, 1 / v, 1 / v))
    assert math.isclose(run.cost, 3 * (m + (p - 1) / v))
    first = simulate(breadth_first(p, m, v), Costs(1 / v, 1 / v, 1 / v))
    assert math.isclose(first.cost, 3 * (m + (p - 1) / v))


@given(ranks=st.integers(1, 6), more=st.integers(0, 6))
def test_zero_bubble_orders_at_equal_times(ranks: int, more: int) -> None:
    """Table 2 of arXiv 2401.10241 with T_F = T_B = T_W = 1, where there are microbatches enough."""
    m = 2 * ranks + more
    assert simulate(zb_h1(ranks, m), Costs()).cost == 3 * m + (ranks - 1)
    assert simulate(zb_h2(ranks, m), Costs()).cost == 3 * m


@given(ranks=small, microbatches=small, comm=st.integers(0, 3), make=st.sampled_from([0, 1, 2, 3]))
def test_every_tick(ranks: int, microbatches: int, comm: int, make: int) -> None:
    schedule = (gpipe, one_f_one_b, zb_h1, zb_h2)[make](ranks, microbatches)
    costs = Costs(2, 3, 1, comm)
    assert ends_by_ticks(schedule, costs) == {
        str(span.action): span.end for order in simulate(schedule, costs).spans for span in order
    }


def ends_by_ticks(schedule: Schedule, costs: Costs) -> dict[str, float]:
    """Returns when each action ends, found by letting a clock tick; times are whole numbers."""
    ends: dict[str, float] = {}
    left = [list(order) for order in schedule.orders]
    free = [0] * schedule.ranks
    now = 0
    while any(left):
        for rank, order in enumerate(left):
            if order and free[rank] <= now and _come(schedule, order[0], ends, now, costs.comm):
                action = order.pop(0)
                free[rank] = now + int(costs.time(action))
                ends[str(action)] = free[rank]
        now += 1
    return ends


def _come(
    schedule: Schedule, action: Action, ends: dict[str, float], now: int, comm: float
) -> bool:
    stage, each = action.stage, action.microbatch
    own = {"F": "", "B": f"{stage}F{each}", "I": f"{stage}F{each}", "W": f"{stage}I{each}"}
    if own[action.kind] and ends.get(own[action.kind], math.inf) > now:
        return False
    other = stage - 1 if action.kind == FORWARD else stage + 1
    if action.kind == "W" or not 0 <= other < schedule.stages:
        return True
    return ends.get(f"{other}{action.kind}{each}", math.inf) + comm <= now


def test_memory_over_time() -> None:
    run = simulate(parse(["0F0 0I0 0W0"]), Costs(2, 3, 1, activation=10, kept=4))
    assert run.memory == (((0, 0), (0, 10), (5, 4), (6, 0)),)
    assert run.peaks == (10,)


@pytest.mark.parametrize(("make", "peak"), [(gpipe, 12), (one_f_one_b, 4), (zb_h1, 4), (zb_h2, 7)])
def test_memory_of_the_first_rank(make: object, peak: float) -> None:
    assert callable(make)
    run: Run = simulate(make(4, 12), Costs(kept=0.0))
    assert run.peaks[0] == peak


def test_where_a_rank_waits() -> None:
    run = simulate(gpipe(2, 1), Costs(1, 1, 1, comm=0.5))
    assert run.bubbles(0) == [(1, 5)]
    assert run.bubbles(1) == []
    assert run.end == run.cost == 7


def test_stages_of_different_length() -> None:
    run = simulate(gpipe(2, 2), Costs(forward=lambda stage: 1 + stage, input=0, weight=0))
    assert [span.end for span in run.spans[1]][:2] == [3, 5]


def test_what_cannot_run_is_refused() -> None:
    with pytest.raises(CourseError, match="rank 0 stands at 0B0"):
        simulate(parse(["0F0 0B0 0F1 0B1", "1F1 1B1 1F0 1B0"]), Costs())


@pytest.mark.parametrize("schedule", [gpipe(3, 4), one_f_one_b(4, 8), interleaved(2, 4, 2)])
def test_what_can_run_goes_all_the_way(schedule: Schedule) -> None:
    assert as_far_as_it_goes(schedule, Costs()).spans == simulate(schedule, Costs()).spans


def test_what_cannot_run_stops_where_it_waits() -> None:
    schedule = parse(["0F0 0B0 0F1 0B1", "1F1 1B1 1F0 1B0"])
    run = as_far_as_it_goes(schedule, Costs())
    assert [[str(span.action) for span in spans] for spans in run.spans] == [["0F0"], []]
    (fault,) = faults(schedule)
    assert [(str(a), str(b)) for a, b in fault.circle] == [("0B0", "1B0"), ("1F1", "0F1")]
    assert [held for _, held in run.memory[0]] == [0.0, 1.0]

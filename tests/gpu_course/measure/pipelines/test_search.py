"""What the search finds runs, keeps to its memory, and is never better than the best there is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_course.errors import CourseError
from gpu_course.measure.pipelines.actions import Action, Schedule, straight
from gpu_course.measure.pipelines.orders import zb_h1
from gpu_course.measure.pipelines.rules import faults
from gpu_course.measure.pipelines.search import bound, search
from gpu_course.measure.pipelines.timing import Costs, simulate

numbers = st.integers(1, 9)


@settings(max_examples=40)
@given(
    ranks=st.integers(1, 5),
    microbatches=st.integers(1, 8),
    times=st.tuples(numbers, numbers, numbers),
    room=st.integers(1, 10),
)
def test_what_is_found_runs_and_fits(
    ranks: int, microbatches: int, times: tuple[int, int, int], room: int
) -> None:
    costs = Costs(*times, comm=1, kept=0.4)
    found = search(ranks, microbatches, costs, room, tries=20)
    assert faults(found.schedule) == []
    assert max(found.run.peaks) <= room + 1e-6
    assert found.run.bubble_rate >= found.bound - 1e-9


def test_the_same_call_finds_the_same_schedule() -> None:
    made = [search(4, 8, Costs(3, 3, 2, 0.1), 8, tries=30).schedule for _ in range(2)]
    assert made[0] == made[1]


def test_no_worse_than_what_was_made_by_hand() -> None:
    costs = Costs(11.3, 11.2, 8.1, 0.4, kept=0.43)
    found = search(6, 18, costs, 6, tries=200)
    assert found.run.bubble_rate <= simulate(zb_h1(6, 18), costs).bubble_rate + 1e-9


@pytest.mark.parametrize("times", [(1, 1, 1), (2, 3, 1), (3, 1, 2)])
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_against_every_order_there_is(times: tuple[int, int, int], limit: int) -> None:
    costs = Costs(*times, comm=0.5, kept=0.5)
    best = min(
        run.cost
        for schedule in every_order(3)
        if max((run := simulate(schedule, costs)).peaks) <= limit
    )
    work = 3 * sum(times)
    assert 1 - work / best >= bound(2, 3, costs, limit) - 1e-9
    found = search(2, 3, costs, limit, tries=100).run.cost
    assert best - 1e-9 <= found <= 1.05 * best


@cache
def every_order(microbatches: int) -> list[Schedule]:
    """Returns all schedules of two ranks in which each kind takes the microbatches in order."""
    pairs = product(_orders(0, microbatches), _orders(1, microbatches))
    made = (Schedule(straight(2), pair, microbatches) for pair in pairs)
    return [schedule for schedule in made if not faults(schedule)]


def _orders(rank: int, microbatches: int) -> Iterator[tuple[Action, ...]]:
    def rest(f: int, i: int, w: int) -> Iterator[tuple[Action, ...]]:
        if w == microbatches:
            yield ()
        for kind, number, allowed in (
            ("F", f, f < microbatches),
            ("I", i, i < f),
            ("W", w, w < i),
        ):
            if allowed:
                step = (f + (kind == "F"), i + (kind == "I"), w + (kind == "W"))
                for later in rest(*step):
                    yield (Action(rank, kind, number), *later)

    return rest(0, 0, 0)


def test_too_little_memory() -> None:
    with pytest.raises(CourseError, match=r"may hold 0\.5, and one microbatch takes 1"):
        search(2, 2, Costs(), 0.5)

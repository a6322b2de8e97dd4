"""The well-known plans: what they keep, what they run again, and how good the best can be."""

from __future__ import annotations

import math
from functools import cache

import pytest

from gpu_course.errors import CourseError
from gpu_course.measure.schedules import plans
from gpu_course.measure.schedules.chain import uniform
from gpu_course.measure.schedules.operations import Kind, Schedule, account


def most_kept(schedule: Schedule) -> int:
    """The most inputs kept at one time by a schedule whose only saved stage is the current one."""
    kept, most = {0}, 1
    for operation in schedule:
        if operation.kind is Kind.keep_input:
            kept.add(operation.stage)
        elif operation.kind is Kind.backward:
            kept.discard(operation.stage)
        most = max(most, len(kept | {0}))
    return most


def count_advances(schedule: Schedule) -> int:
    return sum(o.kind in (Kind.forward, Kind.keep_input) for o in schedule)


@cache
def fewest(length: int, checkpoints: int) -> int:
    """The least number of advances, by trying every place for the next checkpoint."""
    if length == 1:
        return 0
    if checkpoints == 1:
        return length * (length - 1) // 2
    return min(
        ahead + fewest(length - ahead, checkpoints - 1) + fewest(ahead, checkpoints)
        for ahead in range(1, length)
    )


@pytest.mark.parametrize("checkpoints", range(1, 7))
@pytest.mark.parametrize("length", [1, 2, 3, 5, 8, 13, 21, 40])
def test_revolve_is_the_best_there_is(length: int, checkpoints: int) -> None:
    schedule = plans.revolve(length, checkpoints)
    found = account(uniform(length), schedule)
    assert plans.advances(length, checkpoints) == fewest(length, checkpoints)
    assert count_advances(schedule) == fewest(length, checkpoints)
    assert found.cost == fewest(length, checkpoints) + length
    assert most_kept(schedule) <= checkpoints


@pytest.mark.parametrize("length", [1, 2, 7, 16, 50, 100, 1000])
def test_square_root_keeps_twice_the_root_and_runs_once_more(length: int) -> None:
    found = account(uniform(length), plans.square_root(length))
    assert found.peak <= 2 * math.ceil(math.sqrt(length)) + 1
    assert max(found.forward_passes) <= 2


@pytest.mark.parametrize("length", [1, 2, 7, 16, 50, 100, 1000])
def test_logarithmic_keeps_a_logarithm(length: int) -> None:
    found = account(uniform(length), plans.logarithmic(length))
    depth = math.ceil(math.log2(length))
    assert found.peak <= depth + 2
    assert found.cost <= length * (depth + 1)


def test_keeping_everything_runs_nothing_twice() -> None:
    found = account(uniform(9), plans.keep_everything(9))
    assert found.cost == found.peak == 9


@pytest.mark.parametrize(
    ("length", "segments", "starts"), [(10, 3, [0, 3, 6]), (4, 4, [0, 1, 2, 3]), (5, 1, [0])]
)
def test_periodic_is_cut_as_checkpoint_sequential_cuts(
    length: int, segments: int, starts: list[int]
) -> None:
    schedule = plans.periodic(length, segments)
    assert schedule == plans.segmented(length, starts)
    kept = [o.stage for o in schedule if o.kind is Kind.keep_input]
    assert kept == starts[:-1]


@pytest.mark.parametrize(
    "make",
    [
        lambda: plans.keep_everything(0),
        lambda: plans.periodic(3, 4),
        lambda: plans.segmented(5, [1, 3]),
        lambda: plans.segmented(5, [0, 3, 3]),
        lambda: plans.revolve(3, 0),
    ],
)
def test_what_cannot_be_planned_is_told_of(make: object) -> None:
    with pytest.raises(CourseError):
        make()  # type: ignore[operator]

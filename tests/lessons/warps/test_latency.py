"""The scheduler that waits keeps Little's law."""

from __future__ import annotations

import itertools

import pytest

from gpu_course.errors import CourseError
from gpu_course.lessons.warps.latency import issue


@pytest.mark.parametrize(
    ("warps", "chains", "latency"), list(itertools.product((1, 2, 3, 5, 9), (1, 2, 4), (1, 3, 8)))
)
def test_as_many_issue_as_little_says(warps: int, chains: int, latency: int) -> None:
    done = issue(warps, chains, latency, clocks=5 * latency)
    assert done.busy == 5 * min(latency, warps * chains)


@pytest.mark.parametrize(("warps", "chains"), [(1, 1), (3, 1), (1, 3), (4, 2)])
def test_no_chain_issues_before_its_result_is_there(warps: int, chains: int) -> None:
    slots = issue(warps, chains, latency=8, clocks=80).slots
    for warp in range(warps):
        clocks = [clock for clock, slot in enumerate(slots) if slot == warp]
        # Any chains + 1 instructions of a warp have two of one chain among them.
        pairs = zip(clocks, clocks[chains:], strict=False)
        assert all(later - earlier >= 8 for earlier, later in pairs)


def test_every_warp_has_its_turn() -> None:
    assert set(issue(warps=5, chains=2, latency=4, clocks=40).slots) == set(range(5))


@pytest.mark.parametrize("numbers", [(0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0)])
def test_a_scheduler_with_nothing_to_do_is_refused(numbers: tuple[int, int, int, int]) -> None:
    with pytest.raises(CourseError, match="something to do"):
        issue(*numbers)

"""Megatron-LM's counts give the tables that our rules give, and what a larger group changes."""

from __future__ import annotations

import pytest

from gpu_course.errors import CourseError
from gpu_course.measure.pipelines.megatron import megatron
from gpu_course.measure.pipelines.orders import interleaved, one_f_one_b
from gpu_course.measure.pipelines.rules import faults, in_flight
from gpu_course.measure.pipelines.timing import Costs, simulate


@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("microbatches", [1, 2, 5, 8, 13])
def test_without_chunks_it_is_1f1b(ranks: int, microbatches: int) -> None:
    assert megatron(ranks, microbatches).orders == one_f_one_b(ranks, microbatches).orders


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("turns", [1, 2, 4])
@pytest.mark.parametrize("chunks", [2, 3, 4])
def test_with_chunks_it_is_the_interleaved_order(ranks: int, turns: int, chunks: int) -> None:
    ours = interleaved(ranks, turns * ranks, chunks)
    assert megatron(ranks, turns * ranks, chunks) == ours


@pytest.mark.parametrize(("microbatches", "group"), [(8, 6), (9, 4), (12, 12), (7, 5)])
def test_a_larger_group_and_any_number_of_microbatches_can_run_and_hold_more(
    microbatches: int, group: int
) -> None:
    made = megatron(4, microbatches, 2, group)
    assert faults(made) == []
    if group > 4:
        assert max(in_flight(made)) > max(in_flight(megatron(4, 12, 2)))


def test_a_last_group_that_is_not_full_costs_more_than_interleaving_gains() -> None:
    def rate(microbatches: int, chunks: int) -> float:
        costs = Costs(1 / chunks, 1 / chunks, 1 / chunks)
        return simulate(megatron(4, microbatches, chunks), costs).bubble_rate

    assert rate(8, 2) < rate(8, 1) and rate(9, 2) > rate(9, 1)


def test_the_example_of_its_own_comment() -> None:
    """PP2 N3M5 with VP2: groups of three, five microbatches, two chunks."""
    first = [action for action in megatron(2, 5, 2, group=3).orders[0] if action.kind == "F"]
    assert [action.microbatch for action in first] == [0, 1, 2, 0, 1, 2, 3, 4, 3, 4]
    assert [action.stage // 2 for action in first] == [0, 0, 0, 1, 1, 1, 0, 0, 1, 1]


def test_a_group_smaller_than_the_ranks_is_refused() -> None:
    with pytest.raises(CourseError, match="smaller than the 4 ranks"):
        megatron(4, 8, 2, group=3)

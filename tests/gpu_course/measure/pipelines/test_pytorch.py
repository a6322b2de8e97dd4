"""PyTorch's schedules, read as tables: what ours say of them, and where the two differ."""

from __future__ import annotations

import pytest

from gpu_course.errors import CourseError
from gpu_course.measure.pipelines import orders
from gpu_course.measure.pipelines.actions import Action, Schedule
from gpu_course.measure.pipelines.pytorch import SCHEDULES, pytorch_schedule
from gpu_course.measure.pipelines.rules import faults
from gpu_course.measure.pipelines.timing import Costs, simulate


@pytest.mark.parametrize("name", [name for name in SCHEDULES if name != "1F1B"])
@pytest.mark.parametrize(("ranks", "microbatches"), [(2, 4), (4, 8), (4, 12)])
def test_each_can_run(name: str, ranks: int, microbatches: int) -> None:
    assert faults(pytorch_schedule(name, ranks, microbatches)) == []


@pytest.mark.parametrize(("ranks", "microbatches"), [(2, 4), (4, 8), (3, 9)])
def test_those_that_both_write_down(ranks: int, microbatches: int) -> None:
    p, m = ranks, microbatches
    assert pytorch_schedule("GPipe", p, m) == orders.gpipe(p, m)
    for chunks in (2, 3):
        ours = orders.interleaved(p, m, chunks)
        assert pytorch_schedule("Interleaved1F1B", p, m, chunks) == ours
    theirs = pytorch_schedule("1F1B", p, m)
    assert theirs.orders[:-1] == orders.one_f_one_b(p, m).orders[:-1]


def test_breadth_first_goes_back_through_the_microbatches_the_other_way() -> None:
    ours = orders.breadth_first(4, 8, 2)
    theirs = pytorch_schedule("LoopedBFS", 4, 8)
    turned = tuple(
        tuple(
            Action(each.stage, each.kind, 7 - each.microbatch) if each.kind == "B" else each
            for each in order
        )
        for order in theirs.orders
    )
    assert Schedule(theirs.placement, turned, 8) == ours
    assert simulate(theirs, Costs()).cost == simulate(ours, Costs()).cost


def test_the_last_rank_of_its_1f1b_counts_from_one() -> None:
    """Seen in 2.13. Where this fails, PyTorch has mended it: pytorch.py's docstring says so."""
    found = faults(pytorch_schedule("1F1B", 4, 8))
    assert [each.sentence for each in found] == [
        "rank 3, step 14: 3F8 names microbatch 8, and there are 8"
    ]


def test_no_bubble_where_all_three_take_the_same_time() -> None:
    run = simulate(pytorch_schedule("ZBVZeroBubble", 4, 8), Costs(0.5, 0.5, 0.5))
    assert (run.cost, run.bubble_rate) == (3 * 8, 0)


def test_what_pytorch_refuses_is_said_in_its_words() -> None:
    with pytest.raises(CourseError, match="DualPipeV requires at least as many microbatches"):
        pytorch_schedule("DualPipeV", 4, 4)
    with pytest.raises(CourseError, match="PyTorch has no schedule 'Hanayo'"):
        pytorch_schedule("Hanayo", 4, 8)

"""Two pipelines over the same ranks, and actions that are done together."""

from __future__ import annotations

import pytest

from gpu_course.errors import CourseError
from gpu_course.measure.pipelines.actions import Schedule, parse, v_shaped
from gpu_course.measure.pipelines.orders import dualpipe
from gpu_course.measure.pipelines.pytorch import pytorch_schedule
from gpu_course.measure.pipelines.rules import faults, in_flight
from gpu_course.measure.pipelines.timing import Costs, simulate

SIZES = [(2, 4), (4, 8), (4, 14), (6, 12), (8, 20), (8, 40)]
TWO = ["0F0 3F1 3B1 0B0", "2F1 1F0 1B0 2B1"]


def two_ways(lines: list[str]) -> Schedule:
    return parse(lines, v_shaped(2), ways=2)


def test_each_way_has_stages_of_its_own() -> None:
    assert faults(two_ways(TWO)) == []
    assert two_ways(TWO).lines() == TWO


def test_a_microbatch_on_the_wrong_way() -> None:
    found = faults(two_ways(["0F1 3F1 3B1 0B0", TWO[1]]))
    assert (found[0].key, found[0].rank, found[0].step) == ("wrong-way", 0, 0)
    assert found[0].sentence == (
        "rank 0, step 0: 0F1 is on the wrong way: microbatch 1 goes through stages 2 to 3"
    )


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ("0F0 0F1 0B0 0B1&0F2 0B2", "does 0B1 and 0F2 together, at step 3"),
        ("0F0&0B0 0F1 0B1 0F2 0B2", "does 0F0 and 0B0 together, at step 0"),
        ("0F0 0F1&0I0 0W0 0B1 0F2 0B2", "does 0F1 and 0I0 together, at step 1"),
    ],
)
def test_what_is_no_pair(order: str, words: str) -> None:
    found = faults(parse([order]))
    assert [each.key for each in found] == ["bad-pair"]
    assert words in found[0].sentence


@pytest.mark.parametrize("word", ["0F1&", "&0B0", "0F1&0B0&0F2", "0F1 & 0B0"])
def test_what_is_not_written_as_a_pair(word: str) -> None:
    with pytest.raises(CourseError, match="is no action"):
        parse([f"0F0 {word} 0B1"])


def test_a_pair_waits_for_both_and_sends_both_at_its_end() -> None:
    apart = simulate(parse(["0F0 0F1 0B0 0B1", "1F0 1F1 1B0 1B1"]), Costs())
    schedule = parse(["0F0 0F1 0B0 0B1", "1F0 1F1&1B0 1B1"])
    assert faults(schedule) == []
    spans = simulate(schedule, Costs()).spans
    assert [(str(s.action), s.start, s.end) for s in spans[1]] == [
        ("1F0", 1, 2),
        ("1F1", 2, 3),
        ("1B0", 3, 5),
        ("1B1", 5, 7),
    ]
    assert apart.cost == simulate(schedule, Costs()).cost == 9
    quick = simulate(schedule, Costs(pair=2.0)).spans
    assert [s.start for s in quick[1]] == [1, 2, pytest.approx(2 + 2 / 3), 4]
    assert quick[0][2].start == 4


def test_a_pair_may_wait_for_what_comes_of_its_own_first_half() -> None:
    """Rank 1 would send 1F1 only after 1B0, whose gradient comes back from it."""
    lines = ["0F0 0F1 0B0 0B1", "1F0 1F1&1B0 1B1", "2F0 2F1 2B0 2B1"]
    assert faults(parse([each.replace("&", " ") for each in lines])) == []
    found = faults(parse(lines))
    assert [each.key for each in found] == ["deadlock"]
    assert found[0].sentence == (
        "rank 1 stands at 1F1 and waits for 2B0 of rank 2, which stands at 2F1 and waits for 1F1 "
        "of rank 1, which stands at 1F1: a circle"
    )


@pytest.mark.parametrize(("ranks", "microbatches"), SIZES)
@pytest.mark.parametrize(("i", "w"), [(1, 1), (2, 1), (2, 2)])
def test_dualpipe_takes_what_the_report_says(ranks: int, microbatches: int, i: int, w: int) -> None:
    """Table 2 of arXiv 2412.19437, where F takes as long as I: a bubble of (p/2 - 1)(F&B + B - 3W).

    And p + 1 activations on each rank.
    """
    schedule = dualpipe(ranks, microbatches)
    assert faults(schedule) == []
    costs = Costs(i, i, w)
    whole, backward = 2 * i + w, i + w
    bubble = (ranks / 2 - 1) * (whole + backward - 3 * w)
    assert simulate(schedule, costs).cost == microbatches * whole + bubble
    assert set(in_flight(schedule)) == {ranks + 1}


@pytest.mark.parametrize(("ranks", "microbatches"), [(2, 4), (3, 8), (4, 10)])
def test_cut_in_half_it_is_pytorchs_dualpipev(ranks: int, microbatches: int) -> None:
    """The same bubble and as many activations with half as many ranks, two stages on each."""
    schedule = pytorch_schedule("DualPipeV", ranks, microbatches)
    assert schedule.pairs
    cost = simulate(schedule, Costs(2, 2, 1)).cost
    assert cost == 2 * microbatches * 5 + (ranks - 1) * (5 + 3 - 3)
    assert set(in_flight(schedule)) == {2 * ranks + 1}


def test_numbers_that_dualpipe_has_no_order_for() -> None:
    for ranks, microbatches in ((3, 8), (4, 9), (4, 6)):
        with pytest.raises(CourseError, match="DualPipe has no order"):
            dualpipe(ranks, microbatches)

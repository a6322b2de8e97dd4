"""What is wrong with a pipeline schedule is named, with rank, step and the circle it waits in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_course.errors import CourseError
from gpu_course.measure.pipelines.actions import Schedule, looped, parse, v_shaped
from gpu_course.measure.pipelines.orders import (
    breadth_first,
    gpipe,
    interleaved,
    one_f_one_b,
    zb_h1,
    zb_h2,
)
from gpu_course.measure.pipelines.rules import deadlock, faults, in_flight

TWO = ["0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"]

WRONG = [
    (["0F0 0F1 0B0 0B1", "1F0 1B0 1F1"], "missing", "rank 1 never does 1B1"),
    (["0F0 0F1 0B0", "1F0 1B0 1F1 1B1"], "missing", "the whole backward pass of microbatch 1"),
    (["0F0 0F1 0B0 0B1", "1F0 1I0 1F1 1B1"], "missing", "rank 1 never does 1W0"),
    (["0F0 0F1 0B0 0I1", TWO[1]], "missing", "the gradients of microbatch 1 to stage 0's weights"),
    (["0F0 0F1 0B0 0W1", TWO[1]], "missing", "the gradient of microbatch 1 to stage 0's input"),
    (["0F0 0F0 0F1 0B0 0B1", TWO[1]], "doubled", "does 0F0 at step 0 and at step 1 once more"),
    (["0F0 0F1 0B0 0B1 1F0", TWO[1]], "wrong-rank", "1F0 belongs to rank 1"),
    (["0F0 0F1 0B0 0B1 2F0", TWO[1]], "unknown", "names stage 2, and there are 2"),
    (["0F0 0B0 0F1 0B1 0W1", TWO[1]], "both-backwards", "and in part once more, by 0W1"),
    (["0F0 0F1 0B0 0B1", "1B0 1F0 1F1 1B1"], "too-early", "1B0 at step 0, before the 1F0"),
    (["0F0 0F1 0B0 0W1 0I1", TWO[1]], "too-early", "0W1 at step 3, before the 0I1"),
]


@pytest.mark.parametrize(("lines", "key", "words"), WRONG)
def test_a_fault_is_named_with_its_place(lines: list[str], key: str, words: str) -> None:
    found = faults(parse(lines))
    assert found[0].key == key
    assert words in found[0].sentence


def test_a_microbatch_too_many() -> None:
    found = faults(parse(TWO, microbatches=1))
    assert {each.key for each in found} == {"unknown"}
    assert "rank 0, step 1: 0F1 names microbatch 1, and there are 1" in found[0].sentence


def test_a_deadlock_is_told_as_its_circle() -> None:
    schedule = parse(["0F0 0B0 0F1 0B1", "1F1 1B1 1F0 1B0"])
    found = faults(schedule)
    assert [each.key for each in found] == ["deadlock"]
    assert found[0].sentence == (
        "rank 0 stands at 0B0 and waits for 1B0 of rank 1, which stands at 1F1 and waits for 0F1 "
        "of rank 0, which stands at 0B0: a circle"
    )


def test_a_rank_outside_the_circle_is_not_blamed() -> None:
    lines = ["0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1", "2F1 2B1 2F0 2B0"]
    found = deadlock(parse(lines))
    assert found is not None and found.rank == 1
    assert "rank 0" not in found.sentence


def test_a_circle_within_one_rank_that_holds_two_stages() -> None:
    schedule = parse(["1F0 0F0 1B0 0B0"], placement=(0, 0))
    found = deadlock(schedule)
    assert found is not None
    assert found.sentence == (
        "rank 0 stands at 1F0 and waits for 0F0 of rank 0, which stands at 1F0: a circle"
    )


def test_too_many_in_flight() -> None:
    found = faults(gpipe(2, 4), most=2)
    assert [each.key for each in found] == ["too-many", "too-many"]
    assert "rank 0 holds 3 microbatches' activations from 0F2 at step 2 on" in found[0].sentence
    assert not faults(one_f_one_b(2, 4), most=2)


@pytest.mark.parametrize("word", ["F0", "0f0", "0X0", "0F", "-1F0", 3, None])
def test_what_is_no_action(word: object) -> None:
    with pytest.raises(CourseError, match="rank 1, step 1"):
        parse(["0F0 0B0", ["1F0", word]])


@pytest.mark.parametrize("lines", [None, 3, float("nan"), "0F0 0B0", {"0F0": 1}])
def test_what_is_no_list_of_orders(lines: object) -> None:
    with pytest.raises(CourseError, match="is no list of orders"):
        parse(lines)  # type: ignore[arg-type]


@given(ranks=st.integers(1, 5), microbatches=st.integers(1, 9), chunks=st.integers(1, 3))
def test_the_orders_with_names_can_run(ranks: int, microbatches: int, chunks: int) -> None:
    made = [
        gpipe(ranks, microbatches),
        one_f_one_b(ranks, microbatches),
        zb_h1(ranks, microbatches),
        zb_h2(ranks, microbatches),
        breadth_first(ranks, microbatches, chunks),
        interleaved(ranks, ranks * microbatches, chunks),
    ]
    for schedule in made:
        assert faults(schedule) == []
        again = parse(schedule.lines(), schedule.placement)
        assert again == schedule
    first = [in_flight(each)[0] for each in made[:4]]
    assert first == [
        microbatches,
        min(ranks, microbatches),
        min(ranks, microbatches),
        min(2 * ranks - 1, microbatches),
    ]


@given(data=st.data())
def test_a_shuffled_order_is_refused_or_runs(data: st.DataObject) -> None:
    """Whatever order the actions stand in, the rules say it can run exactly if it can."""
    schedule = one_f_one_b(3, 3)
    orders = [data.draw(st.permutations(order)) for order in schedule.orders]
    shuffled = Schedule(schedule.placement, tuple(map(tuple, orders)), 3)
    assert (faults(shuffled) == []) == can_run(shuffled)


def can_run(schedule: Schedule) -> bool:
    """Follows a schedule one action at a time, by nothing but what has been done."""
    done: set[str] = set()
    left = [list(order) for order in schedule.orders]
    moved = True
    while moved:
        moved = False
        for order in left:
            if not order:
                continue
            stage, kind, each = order[0].stage, order[0].kind, order[0].microbatch
            if kind == "F":
                ready = stage == 0 or f"{stage - 1}F{each}" in done
            else:
                ready = f"{stage}F{each}" in done and (
                    stage == schedule.stages - 1 or f"{stage + 1}B{each}" in done
                )
            if ready:
                done.add(str(order.pop(0)))
                moved = True
    return not any(left)


def test_placements() -> None:
    assert looped(3, 2) == (0, 1, 2, 0, 1, 2)
    assert v_shaped(2) == (0, 1, 1, 0)

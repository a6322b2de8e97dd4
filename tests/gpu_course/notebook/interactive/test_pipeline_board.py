"""The schedule board, moved by what its script sends."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_course.errors import CourseError
from gpu_course.measure.pipelines.actions import Schedule, parse, v_shaped
from gpu_course.measure.pipelines.orders import gpipe, interleaved, one_f_one_b, zb_h1
from gpu_course.measure.pipelines.rules import faults
from gpu_course.measure.pipelines.timing import Costs, simulate
from gpu_course.notebook.interactive.pipeline_board import Board, board

NUMBER = iter(range(10**6))


def sent(made: Board, what: str, **more: int) -> None:
    """Does what the script does: writes into the hidden field."""
    made.hand.value = json.dumps({"number": next(NUMBER), "do": what, **more})


def put(made: Board, rank: int, step: int, to_rank: int, to_step: int, what: str = "put") -> None:
    sent(made, what, rank=rank, step=step, toRank=to_rank, toStep=to_step)


def test_a_board_begins_as_the_simulation_has_it() -> None:
    schedule = one_f_one_b(4, 8)
    made = board(schedule, Costs())
    run = simulate(schedule, Costs())
    assert made.faults == [] and made.run.spans == run.spans
    assert f"a bubble of {run.bubble_rate:.1%}" in made.verdict.value
    assert made.undo.disabled and made.again.disabled


def test_a_move_is_judged_at_once_drawn_and_taken_back() -> None:
    made = board(one_f_one_b(4, 8))
    first = made.panel.value
    put(made, 0, 4, 0, 2)
    (fault,) = made.faults
    assert fault.key == "deadlock" and fault.sentence in made.verdict.value
    assert "this is how far it comes" in made.panel.value
    assert 'data-picked="[0, 2]"' in made.panel.value and "data-picked" not in first
    assert made.panel.value.count('class="board-waits"') == len(fault.circle) > 1
    made.undo.click()
    assert made.faults == [] and made.lines() == one_f_one_b(4, 8).lines()


def test_a_try_speaks_and_moves_nothing() -> None:
    made = board(one_f_one_b(4, 8))
    picture = made.panel.value
    put(made, 0, 4, 0, 2, "try")
    assert "a circle" in made.verdict.value and made.panel.value == picture
    assert made.faults == [] and made.lines() == one_f_one_b(4, 8).lines()
    put(made, 0, 4, 0, 4, "try")
    assert "It runs" in made.verdict.value


@pytest.mark.parametrize(
    ("what", "key"),
    [
        ({"do": "drop", "rank": 1, "step": 2}, "missing"),
        ({"do": "double", "rank": 1, "step": 2}, "doubled"),
        ({"do": "put", "rank": 1, "step": 2, "toRank": 0, "toStep": 0}, "wrong-rank"),
        ({"do": "put", "rank": 1, "step": 0, "toRank": 1, "toStep": 9}, "too-early"),
    ],
)
def test_each_fault_a_hand_can_make_is_named(what: dict[str, object], key: str) -> None:
    made = board(one_f_one_b(3, 4))
    sent(made, **{"what" if k == "do" else k: v for k, v in what.items()})
    assert made.faults[0].key == key
    assert "It cannot run" in made.verdict.value
    made.again.click()
    assert made.faults == []


def test_a_limit_is_a_line_and_what_goes_over_it_is_said() -> None:
    made = board(one_f_one_b(4, 8), limit=4.0)
    assert made.faults == [] and "stroke-dasharray" in made.panel.value
    put(made, 0, 4, 0, 5)
    assert [fault.key for fault in made.faults] == ["too-many"]
    assert "rank 0 holds 5 microbatches from 0F4 at step 4 on, and may hold 4" in (
        made.verdict.value
    )


def test_one_of_several_is_chosen() -> None:
    made = board({"GPipe": gpipe(2, 3), "1F1B": one_f_one_b(2, 3)}, lambda _: Costs(weight=0))
    put(made, 0, 0, 0, 1)
    made.menu.value = "1F1B"
    assert made.lines() == one_f_one_b(2, 3).lines() and made.undo.disabled


@pytest.mark.parametrize(
    "schedule",
    [
        interleaved(2, 4, 2),
        zb_h1(3, 4),
        parse(["0F0 3F0 3B0 0B0", "1F0 2F0 2B0 1B0"], v_shaped(2)),
        Schedule((0,), ((),), 0, "nothing"),
    ],
    ids=lambda schedule: schedule.name,
)
def test_every_placement_and_kind_is_drawn(schedule: Schedule) -> None:
    made = board(schedule, Costs())
    assert made.panel.value.count('class="board-act"') == sum(map(len, schedule.orders))
    assert repr(made).startswith(schedule.name or "your orders")


@given(st.lists(st.tuples(*[st.integers(0, 30)] * 4), max_size=6), st.sampled_from(["put", "try"]))
def test_whatever_is_moved_nothing_is_lost_and_the_rules_have_the_word(
    moves: list[tuple[int, int, int, int]], what: str
) -> None:
    made = board(one_f_one_b(3, 3))
    for rank, step, to_rank, to_step in moves:
        rank, to_rank = rank % 3, to_rank % 3
        order = made.schedule.orders[rank]
        if not order:
            continue
        step = step % len(order)
        room = len(made.schedule.orders[to_rank]) - (to_rank == rank)
        put(made, rank, step, to_rank, to_step % (room + 1), what)
        assert [f.sentence for f in made.faults] == [f.sentence for f in faults(made.schedule)]
    had = sorted(word for line in one_f_one_b(3, 3).lines() for word in line.split())
    assert sorted(word for line in made.lines() for word in line.split()) == had


def test_what_is_no_request_becomes_a_note_and_changes_nothing() -> None:
    made = board(one_f_one_b(2, 2))
    for text in ("", "{}", '{"do": "put", "rank": 7, "step": 0, "toRank": 0, "toStep": 0}'):
        made.hand.value = "?"
        made.hand.value = text
        assert "gpu-course-note" in made.verdict.value
        assert made.lines() == one_f_one_b(2, 2).lines()


def test_a_stored_notebook_has_the_picture_and_its_words() -> None:
    bundle = board(one_f_one_b(2, 2))._repr_mimebundle_()
    assert bundle["text/html"].startswith("<img alt=") and "onfocus" not in bundle["text/html"]
    assert "rank 1: 1F0 1B0 1F1 1B1" in bundle["text/plain"]


def test_an_action_is_moved_by_name_too() -> None:
    made = board(one_f_one_b(4, 6))
    assert "a circle" in str(made.move("0B0", before="0F2"))
    assert made.lines()[0].startswith("0F0 0F1 0B0 0F2")
    assert "It runs" in str(made.move("0B0", before="0F3"))
    with pytest.raises(CourseError, match="0B0 stands on rank 0, and 1F2 on rank 1"):
        made.move("0B0", before="1F2")
    with pytest.raises(CourseError, match="no rank does 0W0"):
        made.move("0W0", before="0F2")

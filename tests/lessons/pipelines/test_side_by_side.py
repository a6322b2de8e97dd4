"""What lesson 26 sets side by side: each number in a table is that of the thing it stands for."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest

from gpu_course.lessons.pipelines import shows, side_by_side
from gpu_course.lessons.pipelines.layer_costs import LayerCost
from gpu_course.lessons.pipelines.recompute import bubble_share, hidden
from gpu_course.lessons.pipelines.staleness import train
from gpu_course.measure.pipelines.pytorch import SCHEDULES
from gpu_course.notebook.interactive.pipeline_board import Board
from gpu_course.notebook.note import Note
from gpu_course.notebook.pictures import Picture

WIDEST = 74
"""Columns that half a window shows without breaking a line."""


def row(table: str, name: str) -> list[str]:
    """Returns the words of the last row that begins with a name."""
    return [line for line in table.split("\n") if line.strip().startswith(name)][-1].split()


def test_every_schedule_has_a_row_and_what_cannot_run_says_so() -> None:
    table = side_by_side.schedules(4, 8)
    for name in (*shows.ORDERS, *SCHEDULES):
        assert name in table
    assert "3F8 names microbatch 8, and there are 8" in table
    for name in ("GPipe", "interleaved", "ZBVZeroBubble", "DualPipeV"):
        run = shows.run_of(name, 4, 8)
        assert row(table, name)[2:4] == [f"{run.bubble_rate:.1%}", f"{max(run.peaks):.3g}"]


@pytest.mark.parametrize(("ranks", "microbatches"), [(2, 4), (4, 8), (3, 9)])
def test_ours_and_pytorch_s_of_one_kind_are_the_same(ranks: int, microbatches: int) -> None:
    table = side_by_side.schedules(ranks, microbatches)
    assert row(table, "interleaved")[1:] == row(table, "Interleaved1F1B")[1:]
    assert row(table, "breadth-first")[1:] == row(table, "LoopedBFS")[1:]


def test_megatron_s_counts_are_compared_action_by_action() -> None:
    assert side_by_side.beside_megatron(4, 8).split("\n")[1:] == [
        "  1F1B        64 of 64 actions are the same",
        "  interleaved 128 of 128 actions are the same",
    ]


def test_the_table_of_recomputation_has_each_multiple_and_its_free_part() -> None:
    table = side_by_side.recomputing(4)
    shares = [f"{bubble_share(4, 16, how):.1%}" for how in ("none", "waiting", "early")]
    assert row(table, "16 = 4 K")[4:] == [*shares, f"{hidden(4, 16):.0%}"]
    assert [line.split()[2] for line in table.split("\n") if " K " in line] == ["1", "2", "4", "8"]


def test_three_cuts_of_the_same_parts_and_the_best_is_no_worse() -> None:
    parts = [LayerCost(f"part {us}", us / 3, 2 * us / 3) for us in (9, 3, 6, 3, 3, 12)]
    table = side_by_side.cuts(3, parts)
    slowest = {
        name: int(re.search(r"(\d+) us", " ".join(row(table, name)))[1])
        for name in ("as many", "torchgpipe", "the best")
    }
    assert slowest["as many"] == 15 and slowest["the best"] == 12
    assert slowest["the best"] <= slowest["torchgpipe"] <= 24


def test_a_rank_more_than_parts_is_told_in_a_sentence() -> None:
    told = side_by_side.cuts(7, [LayerCost("a", 1, 2)] * 3)
    assert isinstance(told, Note) and "3 layers cannot be cut into 7 stages" in str(told)


def test_weights_that_move_on_are_told_for_each_way_to_meet_them() -> None:
    table = side_by_side.never_draining(4, 24, 0.3)
    run = train("predicted", 4, 24, 0.3)
    said = row(table, "predicted (SpecTrain)")
    assert said[2] == f"{max(run.gradient_error):.1%}" and said[3:7] == ["1"] * 4
    assert row(table, "put aside")[3:8] == ["0", "4", "3", "2", "1"]


@pytest.mark.parametrize(
    "table",
    [
        partial(side_by_side.schedules, 8, 16),
        partial(side_by_side.recomputing, 8),
        partial(side_by_side.cuts, 4),
        partial(side_by_side.never_draining, 6),
    ],
    ids=["schedules", "recomputing", "cuts", "never_draining"],
)
def test_no_line_is_wider_than_half_a_window(table: Callable[[], str]) -> None:
    assert max(map(len, table().split("\n"))) <= WIDEST


def test_a_board_begins_with_the_order_asked_for_and_has_all_of_the_lesson() -> None:
    made = shows.in_hand("GPipe", 3, 4, limit=3)
    assert isinstance(made, Board) and set(made.schedules) == set(shows.ORDERS)
    assert made.menu.value == "GPipe" and [fault.key for fault in made.faults] == ["too-many"] * 3
    made.menu.value = "1F1B"
    assert made.faults == []
    assert isinstance(shows.in_hand("no such order"), Note)


def test_groups_from_interleaved_to_breadth_first() -> None:
    few, all_of_them = shows.by_groups(4), shows.by_groups(8)
    assert isinstance(few, Picture) and "holds at most 5.5" in repr(few)
    assert "holds at most 7.5" in repr(all_of_them)
    assert isinstance(shows.by_groups(3), Note)

"""The chain for a pencil: its table by hand, and every entry the best of its beginnings."""

from __future__ import annotations

import math

import pytest

from gpu_course.lessons.optimal_checkpointing.by_hand import (
    beginnings,
    beginnings_text,
    table_text,
    three_stages,
)
from gpu_course.lessons.optimal_checkpointing.dynamic_program import solve
from gpu_course.measure.schedules.operations import account
from tests.lessons.optimal_checkpointing.brute_force import best_cost

CHAIN = three_stages()
TABLE = solve(CHAIN, 9)
PARTS = [(s, t) for t in range(1, 4) for s in range(t)]


# Worked with a pencil: 8 slots save everything; in 7 stage 0 or one late stage runs again.
@pytest.mark.parametrize(
    ("memory", "passes"), [(3, math.inf), (4, 5), (5, 4), (6, 4), (7, 4), (8, 3)]
)
def test_the_table_is_the_one_of_a_pencil(memory: int, passes: float) -> None:
    assert TABLE.best_cost(memory) == passes


@pytest.mark.parametrize("memory", range(1, 10))
def test_the_table_is_the_one_of_trying_everything(memory: int) -> None:
    assert TABLE.best_cost(memory) == best_cost(CHAIN, memory)


@pytest.mark.parametrize(("s", "t"), PARTS)
@pytest.mark.parametrize("memory", range(10))
def test_an_entry_is_the_cheapest_of_its_beginnings(s: int, t: int, memory: int) -> None:
    found = beginnings(TABLE, s, t, memory)
    assert min(each.cost for each in found) == TABLE.cost[s][t - s - 1, memory]
    assert len(found) == t - s


@pytest.mark.parametrize("memory", range(4, 10))
def test_its_costs_are_forward_passes(memory: int) -> None:
    found = account(CHAIN, TABLE.schedule(memory))
    assert found.cost == sum(found.forward_passes) == TABLE.best_cost(memory)
    assert found.peak <= memory


def test_the_table_shows_parts_up_to_a_length() -> None:
    lines = table_text(TABLE, longest=2).splitlines()
    assert [line[:16].strip() for line in lines] == [
        "slots", "stage 0", "stage 1", "stage 2", "stages 0 to 1", "stages 1 to 2",
    ]  # fmt: skip
    assert lines[-1].split()[4:] == ["-", "-", "3", "2", "2", "2", "2", "2", "2"]
    assert "stages 0 to 2" in table_text(TABLE)


def test_beginnings_are_told_with_their_sums() -> None:
    told = beginnings_text(TABLE, 0, 3, 4)
    assert "  save all of 0\n      1 + - (stages 1 to 2, 0 slots): no room" in told
    assert "* keep its input, run on to 1\n      1 + 3 (stages 1 to 2, 3 slots)" in told
    assert "1 (stage 0, 4 slots) = 5" in told and max(map(len, told.splitlines())) <= 70
    assert "Nothing fits." in beginnings_text(TABLE, 0, 3, 3)
    assert "* save all of 2\n      1\n" in beginnings_text(TABLE, 2, 3, 2)

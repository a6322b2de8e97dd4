"""Numbers that say where they are from, and runs that are drawn from what was sent."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_course.isolation import servers
from gpu_course.lessons.collectives import runs, tagged
from gpu_course.lessons.collectives.schedules import ring_all_reduce, tree_all_reduce
from gpu_course.ranks.runner import Source, run_with

SOLUTIONS = Path(__file__).parents[3] / "solutions" / "21_collectives"
NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)


@given(
    st.integers(1, tagged.MAX_RANKS),
    st.integers(0, 15),
    st.lists(st.integers(0, 3), min_size=8, max_size=8),
)
def test_a_sum_of_tags_says_whose_it_is(ranks: int, place: int, times: list[int]) -> None:
    of_each = [tagged.tags(rank, ranks, 16)[place] for rank in range(ranks)]
    total = sum(n * v for n, v in zip(times, of_each, strict=False))
    inside = Counter({rank: n for rank, n in enumerate(times[:ranks]) if n})
    assert tagged.read(total, ranks) == ((place, inside) if inside else None)


@pytest.mark.parametrize("value", [0.5, -1.0, 0.0])
def test_what_is_no_sum_of_tags_is_not_read(value: float) -> None:
    assert tagged.read(value, 4) is None


def watched(name: str, ranks: int, length: int, *more: int, text: str = "") -> list:
    source = text or (SOLUTIONS / f"{name}.py").read_text(encoding="utf-8")
    given = {"function": name, "length": length, "more": list(more)}
    answer = Source(f"{name}.py", source, (name,))
    return list(run_with([answer], runs.watched, ranks, given).results)


def moments(done: list, length: int) -> tuple[tagged.Moment, ...]:
    return tagged.moments([r["told"] for r in done], length, [r["result"] for r in done])


@NEEDS_RANKS
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_a_real_ring_is_the_schedule_of_a_ring(ranks: int) -> None:
    done = watched("all_reduce", ranks, ranks)
    assert moments(done, ranks) == tagged.moments_of(ring_all_reduce(ranks))


@NEEDS_RANKS
@pytest.mark.parametrize(
    ("name", "length", "more"), [("double_tree", 2, ()), ("hierarchical", 4, (2,))]
)
def test_other_runs_end_with_the_whole_sum(name: str, length: int, more: tuple[int, ...]) -> None:
    found = moments(watched(name, 4, length, *more), length)
    everyone = Counter(range(4))
    assert all(inside == everyone for row in found[-1].held for inside in row)
    assert found[0].held == tuple((Counter({r: 1}),) * length for r in range(4))


TWICE = """
import torch
import torch.distributed as dist


def twice(x):
    total = x.clone()
    if dist.get_rank() == 0:
        got = torch.empty_like(x)
        for _ in range(2):
            dist.recv(got, 1)
            total += got
    else:
        for _ in range(2):
            dist.send(x, 0)
    return total
"""


@NEEDS_RANKS
def test_what_a_run_adds_twice_is_seen() -> None:
    found = moments(watched("twice", 2, 2, text=TWICE), 2)
    assert found[-1].held[0] == (Counter({1: 2, 0: 1}),) * 2
    assert all(move.adds for move in found[-1].moves)


def test_a_schedule_is_followed_without_ranks() -> None:
    found = tagged.moments_of(tree_all_reduce(3))
    everyone = Counter(range(3))
    whole = [all(inside == everyone for row in moment.held for inside in row) for moment in found]
    assert whole == [False] * 4 + [True]
    assert [len(moment.moves) for moment in found] == [0, 1, 1, 1, 1]


def test_a_message_that_nobody_takes_changes_nothing() -> None:
    told = [[["send", 1, tagged.tags(0, 2, 1)]], []]
    sent, arrived = tagged.messages(told)
    assert (len(sent), arrived) == (1, [])
    end = tagged.moments(told, 1, [None, None])[-1]
    assert end.held == ((Counter({0: 1}),), (Counter({1: 1}),))

"""Schedules of collectives: followed chunk by chunk, they must come to what they promise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from gpu_course.errors import CourseError
from gpu_course.lessons.collectives.schedules import (
    Move,
    Schedule,
    double_tree_all_reduce,
    own,
    pat_all_gather,
    pat_all_reduce,
    pat_reduce_scatter,
    ring_all_gather,
    ring_all_reduce,
    ring_reduce_scatter,
    second_place,
    tree_all_reduce,
    tree_parent,
    two_level_all_reduce,
)

RANKS = range(1, 18)
ALL_REDUCES = {
    **{f"ring of {n}": ring_all_reduce(n) for n in RANKS},
    **{f"tree of {n}": tree_all_reduce(n) for n in RANKS},
    **{f"double tree of {n}": double_tree_all_reduce(n) for n in RANKS},
    **{
        f"double tree of {n} in {p} pieces": double_tree_all_reduce(n, p)
        for n in (1, 2, 3, 7, 12)
        for p in (2, 5)
    },
    **{f"PAT of {n}": pat_all_reduce(n) for n in RANKS},
    **{
        f"{nodes} nodes of {per_node}": two_level_all_reduce(nodes, per_node)
        for nodes in (1, 2, 3, 4)
        for per_node in (1, 2, 3, 8)
    },
}


@pytest.mark.parametrize("name", ALL_REDUCES)
def test_in_the_end_every_rank_has_every_number_once(name: str) -> None:
    schedule = ALL_REDUCES[name]
    everyone = Counter(range(schedule.ranks))
    for row in schedule.held()[-1]:
        assert row == (everyone,) * schedule.chunks


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize(
    ("scatter", "gather"),
    [(ring_reduce_scatter, ring_all_gather), (pat_reduce_scatter, pat_all_gather)],
)
def test_the_halves_keep_their_promises(
    scatter: Callable[[int], Schedule], gather: Callable[[int], Schedule], ranks: int
) -> None:
    end = scatter(ranks).held()[-1]
    assert all(end[r][r] == Counter(range(ranks)) for r in range(ranks))
    begin = tuple(
        tuple(Counter({r: 1}) if c == r else Counter() for c in range(ranks)) for r in range(ranks)
    )
    end = gather(ranks).held(begin)[-1]
    assert all(row == tuple(Counter({c: 1}) for c in range(ranks)) for row in end)


@pytest.mark.parametrize("ranks", RANKS)
def test_a_ring_sends_the_least_and_only_to_the_next(ranks: int) -> None:
    sent = ring_all_reduce(ranks).sent_chunks()
    each = 2 * (ranks - 1)
    assert sent == ({(r, (r + 1) % ranks): each for r in range(ranks)} if each else {})


@pytest.mark.parametrize("ranks", RANKS)
def test_pat_sends_a_rings_bytes_in_few_steps_and_little_of_them_far(ranks: int) -> None:
    schedule = pat_all_gather(ranks)
    sent = Counter(
        {r: sum(c for (source, _), c in schedule.sent_chunks().items() if source == r)
         for r in range(ranks)}
    )  # fmt: skip
    assert all(sent[r] == ranks - 1 for r in range(ranks))
    assert len(schedule.steps) == (ranks - 1).bit_length()
    for step in schedule.steps:
        # Every rank sends one message, as far as all others, with as many chunks.
        assert len({(m.target - m.source) % ranks for m in step}) == 1
        assert len({len(m.chunks) for m in step}) == 1 and len(step) == ranks
    most = schedule.most_chunks()
    assert sorted(most[:-1]) == list(most[:-1]) and sum(most) == ranks - 1


@pytest.mark.parametrize("ranks", range(2, 40))
def test_the_two_trees_share_their_work(ranks: int) -> None:
    inner = [
        {at[tree_parent(place, ranks)] for place in range(1, ranks)}
        for at in (
            {r: r for r in range(ranks)},
            {second_place(r, ranks): r for r in range(ranks)},
        )
    ]
    # With an odd number one rank has children in both, one in each.
    assert len(inner[0] & inner[1]) <= ranks % 2
    assert max(double_tree_all_reduce(ranks).most_chunks()) <= 2
    assert len(double_tree_all_reduce(ranks).steps) == 2 * (ranks - 1).bit_length()


def test_between_nodes_only_a_share_is_sent() -> None:
    nodes, per_node = 3, 4
    sent = two_level_all_reduce(nodes, per_node).sent_chunks()
    out: Counter[int] = Counter()
    for (source, target), chunks in sent.items():
        if source // per_node != target // per_node:
            out[source] += chunks
    # 2 (k - 1) / k of a share, which is k chunks.
    assert out == dict.fromkeys(range(nodes * per_node), 2 * (nodes - 1))


def test_a_message_leaves_before_any_arrives() -> None:
    swap = Schedule("swap", 2, 1, ((Move(0, 1, (0,), True), Move(1, 0, (0,), True)),))
    assert swap.held()[-1] == ((Counter({0: 1, 1: 1}),),) * 2


def test_what_is_added_twice_is_counted_twice() -> None:
    twice = Schedule("twice", 2, 1, ((Move(0, 1, (0,), True),),) * 2)
    assert twice.held()[-1][1][0] == Counter({0: 2, 1: 1})
    assert own(2, 1) == ((Counter({0: 1}),), (Counter({1: 1}),))


def test_no_ranks_make_no_collective() -> None:
    with pytest.raises(CourseError, match="0 ranks make no collective"):
        tree_all_reduce(0)

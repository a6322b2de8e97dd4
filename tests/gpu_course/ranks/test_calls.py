"""What is booked for a call, against a ring that is walked message by message."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gpu_course.ranks.calls import KINDS, Call

WORLD = (2, 5, 7, 8)


def call(kind: str, rank: int, elements: int, peer: int | None = None) -> Call:
    return Call(rank, 0, kind, WORLD, 0, (elements,), 4 * elements, peer)


def ring_all_reduce(elements: int) -> list[int]:
    """Elements that each rank sends when chunks go round a ring twice, less a step each time."""
    size = len(WORLD)
    sent = [0] * size
    for _ in range(2):
        for _ in range(size - 1):
            for place in range(size):
                sent[place] += elements // size
    return sent


def test_an_all_reduce_is_booked_as_a_ring_carries_it() -> None:
    for place, rank in enumerate(WORLD):
        assert call("all_reduce", rank, 96).booked_bytes == 4 * ring_all_reduce(96)[place]


def test_reduce_scatter_and_all_gather_make_an_all_reduce() -> None:
    whole = call("all_reduce", 5, 96).booked_bytes
    scattered = call("reduce_scatter", 5, 96).booked_bytes
    assert scattered + call("all_gather", 5, 96 // 4).booked_bytes == whole


def test_odd_sizes_are_booked_exactly() -> None:
    assert call("all_reduce", 2, 5).booked_bytes == Fraction(2 * 20 * 3, 4)


@pytest.mark.parametrize("root", WORLD)
@pytest.mark.parametrize("kind", ["broadcast", "reduce"])
def test_along_a_chain_all_but_one_send_everything(kind: str, root: int) -> None:
    sent = {rank: call(kind, rank, 10, root).booked_bytes for rank in WORLD}
    assert sorted(sent.values()) == [0, 40, 40, 40]
    # A broadcast begins at its root, and a reduction ends there.
    assert sent[root] == (40 if kind == "broadcast" else 0)


def test_gather_and_scatter_are_booked_where_the_data_starts() -> None:
    assert [call("gather", rank, 10, 7).booked_bytes for rank in WORLD] == [40, 40, 0, 40]
    assert [call("scatter", rank, 40, 7).booked_bytes for rank in WORLD] == [0, 0, 120, 0]


def test_only_what_is_sent_is_booked() -> None:
    booked = {kind: call(kind, 5, 8, 2).booked_bytes for kind in KINDS}
    assert booked["send"] == 32
    assert booked["recv"] == booked["barrier"] == 0


def test_a_group_of_one_sends_nothing() -> None:
    for kind in set(KINDS) - {"send"}:
        assert Call(3, 0, kind, (3,), 0, (8,), 32, 3).booked_bytes == 0

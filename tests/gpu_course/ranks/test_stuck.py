"""Calls that do not fit each other are named, and calls that fit are left alone."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_course.ranks.calls import NEW_GROUP, Call
from gpu_course.ranks.stuck import Agreement, Disagreement, Standing, crossed, stuck_report

ALL = (0, 1, 2)


def disagreement(calls: Sequence[Call]) -> Disagreement | None:
    return Agreement().broken_by(calls)


def collective(rank: int, place: int = 0, kind: str = "all_reduce", size: int = 4) -> Call:
    root = 1 if kind in ("broadcast", "reduce", "gather", "scatter") else None
    return Call(rank, place, kind, ALL, place, (size,), 4 * size, root, line=10 + rank)


def message(kind: str, rank: int, peer: int, size: int = 4, place: int = 0) -> Call:
    return Call(rank, 0, kind, ALL, place, (size,), 4 * size, peer, line=20 + rank)


def made(rank: int, group: tuple[int, ...], place: int = 0, tag: int = 0) -> Call:
    return Call(rank, place, NEW_GROUP, group, place, (), 0, tag=tag, line=30 + rank)


SOUND: dict[str, Sequence[Call]] = {
    "all make the same calls": [collective(r, p) for r in ALL for p in range(3)],
    "one is behind": [collective(0), collective(1), collective(0, 1)],
    "parts of an all-to-all differ": [collective(r, kind="all_to_all", size=r) for r in ALL],
    "a scatter's root alone brings data": [
        collective(r, kind="scatter", size=12 * (r == 1)) for r in ALL
    ],
    "a send and its receive": [message("send", 0, 1), message("recv", 1, 0)],
    "a ring of sends": [
        each
        for r in ALL
        for each in (message("send", r, (r + 1) % 3), message("recv", r, (r - 1) % 3))
    ],
    "groups with names of their own": [made(0, (0, 1), tag=1), made(2, (1, 2), tag=1)],
    "groups that all make": [made(r, g, p) for r in ALL for p, g in enumerate([(0, 1), (1, 2)])],
    "parts of an all-to-all that meet": [
        replace(collective(r, kind="all_to_all"), gives=(r, r, r), takes=ALL) for r in ALL
    ],
    "a scatter whose others bring nothing": [
        collective(0, kind="scatter"),
        replace(collective(1, kind="scatter", size=0), dtype=""),
    ],
    "sums of one dtype": [replace(collective(r), dtype="float32", op="SUM") for r in ALL],
    "two groups count for themselves": [
        collective(0),
        replace(collective(0, 1, "barrier"), group=(0, 1), place=0),
        replace(collective(1, 0, "barrier"), group=(0, 1), place=0),
        collective(1, 1, "all_reduce"),
        replace(collective(1, 1, "all_reduce"), place=0),
    ],
}
FAULTS: dict[str, tuple[Sequence[Call], str, str]] = {
    "another kind": (
        [collective(0), collective(1), collective(2, kind="all_gather")],
        "kinds",
        "collective 0 of ranks 0, 1, 2 is all_reduce on rank 0 and all_gather on rank 2",
    ),
    "one is left out": (
        [collective(0), collective(1, kind="broadcast"), collective(0, 1, "broadcast")],
        "kinds",
        "collective 0 of ranks 0, 1, 2 is all_reduce on rank 0 and broadcast on rank 1",
    ),
    "another size": (
        [collective(0), collective(1, size=5)],
        "sizes",
        "has 4 elements (16 bytes) on rank 0 and 5 elements (20 bytes) on rank 1",
    ),
    "another root": (
        [collective(0, kind="reduce"), replace(collective(1, kind="reduce"), peer=2)],
        "roots",
        "reduce, has root 1 on rank 0 and root 2 on rank 1",
    ),
    "another dtype of the same size": (
        [
            replace(message("send", 0, 1), dtype="float32"),
            replace(message("recv", 1, 0), dtype="int32"),
        ],
        "dtypes",
        "4 elements of float32 (16 bytes) to rank 1, which receives 4 elements of int32 (16 bytes)",
    ),
    "a collective of another dtype": (
        [replace(collective(r, kind="all_gather"), dtype="float32" if r else "int32") for r in ALL],
        "dtypes",
        "all_gather, has 4 elements of int32 (16 bytes) on rank 0 and 4 elements of float32",
    ),
    "another op": (
        [replace(collective(0), op="SUM"), replace(collective(1), op="MAX")],
        "ops",
        "collective 0 of ranks 0, 1, 2, all_reduce, is SUM on rank 0 and MAX on rank 1",
    ),
    "another group": (
        [made(0, (0, 1)), made(1, (1, 2))],
        "groups",
        "new_group 0 is of ranks 0, 1 on rank 0 and of ranks 1, 2 on rank 1",
    ),
    "parts of an all-to-all that do not meet": (
        [
            replace(collective(0, kind="all_to_all"), gives=(1, 1, 1), takes=(1, 1, 1)),
            replace(collective(1, kind="all_to_all"), gives=(1, 0, 2), takes=(1, 0, 1)),
            replace(collective(2, kind="all_to_all"), gives=(1, 1, 0), takes=(1, 1, 0)),
        ],
        "parts",
        "all_to_all, rank 1 gives 2 elements to rank 2, which takes 1",
    ),
    "a receive too small": (
        [message("recv", 1, 0, size=1), message("send", 0, 1)],
        "sizes",
        "rank 0 sends 4 elements (16 bytes) to rank 1, which receives 1 element (4 bytes)",
    ),
}


@pytest.mark.parametrize("name", SOUND)
def test_what_fits_is_left_alone(name: str) -> None:
    assert disagreement(SOUND[name]) is None


@pytest.mark.parametrize("name", FAULTS)
def test_what_does_not_fit_is_named_with_both_places(name: str) -> None:
    calls, what, fact = FAULTS[name]
    for order in itertools.permutations(calls):
        found = disagreement(order)
        assert found is not None
        assert found.what == what
    found = disagreement(calls)
    assert found is not None
    assert fact in found.fact
    assert [place.split()[-1] for place in found.places("a.py")] == [
        f"a.py:{each.line}" for each in (found.one, found.other)
    ]


def test_a_rank_that_is_through_is_not_said_to_call_a_barrier() -> None:
    through = replace(collective(1, kind="barrier"), line=0)
    for calls in ([collective(0), through], [through, collective(0)]):
        found = disagreement(calls)
        assert found is not None and found.returned is through
        assert found.fact == "rank 1 returns without the all_reduce that rank 0 calls"
        assert "rank 1 has returned" in found.places("a.py")


def test_a_barrier_of_ones_own_is_a_call_as_any_other() -> None:
    found = disagreement([collective(0), collective(1, kind="barrier")])
    assert found is not None and found.returned is None


@given(st.data())
def test_a_fault_in_one_of_many_equal_programs_is_found(data: st.DataObject) -> None:
    kinds = st.sampled_from(["all_reduce", "all_gather", "barrier", "broadcast"])
    program = data.draw(st.lists(kinds, min_size=1, max_size=8))
    calls = [collective(r, p, kind) for r in ALL for p, kind in enumerate(program)]
    assert disagreement(data.draw(st.permutations(calls))) is None
    at = data.draw(st.integers(0, len(calls) - 1))
    other = data.draw(kinds.filter(lambda kind: kind != calls[at].kind))
    calls[at] = collective(calls[at].rank, calls[at].place, other)
    found = disagreement(calls)
    assert found is not None
    assert calls[at] in (found.one, found.other)


def test_a_report_names_what_nobody_kept_hold_of() -> None:
    stand = [Standing(0, "waits in recv from 2", 5), Standing(1, "has finished")]
    told = stuck_report(stand, "a.py", "all wait", [message("send", 2, 0), message("recv", 1, 2)])
    lost = ", and kept no work to wait for: such a message may be lost"
    assert told.splitlines() == [
        "the run stands still: all wait",
        "  rank 0 waits in recv from 2, a.py:5",
        "  rank 1 has finished",
        f"  rank 2 began a send to rank 0, a.py:22{lost}",
        f"  rank 1 began a receive from rank 2, a.py:21{lost}",
    ]


def test_what_all_wait_in_says_why() -> None:
    def stand(*calls: Call | None) -> list[Standing]:
        return [Standing(rank, "", call=call) for rank, call in enumerate(calls)]

    pair = replace(collective(0), group=(0, 1))
    assert crossed(stand(pair, collective(1))) == "groups-crossed"
    assert crossed(stand(pair, made(1, (1, 2)))) == "new-group"
    # Plain waits, groups that share nobody, and messages in a group are no such thing.
    apart = replace(collective(2), group=(2, 3))
    for calls in (
        [collective(0), collective(1), None],
        [pair, apart],
        [pair, message("recv", 2, 1)],
    ):
        assert crossed(stand(*calls)) == ""

"""Puzzle `double_tree`: an all-reduce over two trees, half of the buffer in each."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.collectives.pieces import (
    NOT_FINITE,
    TOLERANCE,
    case,
    random_case,
    summed,
    whole_on_each,
)
from gpu_course.lessons.collectives.schedules import second_place, tree_parent
from gpu_course.puzzle.on_ranks import (
    FLOAT64_BYTES,
    as_wide,
    by_hand,
    ranks_of,
    sends,
    standstill,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values

Parents = list[int | None]


def trees(ranks: int) -> tuple[Parents, Parents]:
    """Returns the parent of each rank in both trees, None for the roots.

    >>> trees(4)
    ([None, 2, 0, 2], [1, 3, 1, None])
    """
    first = [tree_parent(place, ranks) for place in range(ranks)]
    at = [second_place(rank, ranks) for rank in range(ranks)]
    second = [None if (up := first[at[r]]) is None else at.index(up) for r in range(ranks)]
    return first, second


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": (summed(inputs),) * ranks_of(case)}


def _halves(length: int) -> tuple[int, int]:
    return length - length // 2, length // 2


def over_the_trees(ranks: int, length: int, exchanged: bool = False) -> dict[tuple[int, int], int]:
    """Returns {(from, to): bytes}: each half once up and once down every edge of its tree.

    Args:
        ranks, length: how many there are.
        exchanged: True where the first half goes over the second tree.
    """
    found: dict[tuple[int, int], int] = {}
    halves = _halves(length)
    for up, half in zip(trees(ranks), halves[::-1] if exchanged else halves, strict=True):
        for rank, parent in enumerate(up):
            if parent is not None:
                for way in ((rank, parent), (parent, rank)):
                    found[way] = found.get(way, 0) + FLOAT64_BYTES * half
    return found


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    ranks, wire, length = ranks_of(case), got["wire"], case.sizes["length"]
    if found := by_hand(wire):
        return found
    due = over_the_trees(ranks, length)
    for rank in range(ranks):
        own = sends(wire, rank)
        for peer in sorted({call.peer for call in own if call.peer is not None}):
            to_it = [call for call in own if call.peer == peer]
            sent, most = sum(call.payload_bytes for call in to_it), due.get((rank, peer), 0)
            if sent > most:
                fact = f"rank {rank} sends {sent:,} bytes to rank {peer}; the trees need {most:,}"
                return Judgement(_why_over(got, ranks, length), fact, "over-budget", to_it[-1].line)
    # No edge carries more, so none carries less where the sum is right: what each rank sends to
    # each other is exactly what the trees say.
    return as_wide(wire, sum(due.values()))


def _why_over(got: Values, ranks: int, length: int) -> str:
    """The key of what else than the two trees a right result may come from."""
    told: dict[tuple[int, int], int] = {}
    for call in got["wire"]:
        if call.kind == "send" and call.peer is not None:
            way = call.rank, call.peer
            told[way] = told.get(way, 0) + call.payload_bytes
    first = trees(ranks)[0]
    edges = {way for r, up in enumerate(first) if up is not None for way in ((r, up), (up, r))}
    if ranks > 2 and set(told) == edges:
        return "one-tree"
    if told == over_the_trees(ranks, length, exchanged=True):
        return "trees-exchanged"
    allowed = over_the_trees(ranks, length)
    return "too-many-bytes" if set(told) <= set(allowed) else "not-the-trees"


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if "failed" in got:
        return standstill(got)
    size = ranks_of(case) * case.sizes["length"]
    return "rest-dropped" if sum(np.size(each) for each in got["result"]) < size else None


DOUBLE_TREE = PythonPuzzle(
    **puzzle_fields(__file__),
    ranks=ranks_of,
    torch=True,
    cases=(
        case(4, 8, "visible example", visible=True),
        case(4, 13, NOT_FINITE),
        case(4, 1),
        case(3, 11),
        case(3, 30_000),
        case(2, 7),
        case(1, 5),
    ),
    random_case=random_case,
    inputs=whole_on_each,
    reference=_reference,
    tolerance=TOLERANCE,
    judge=_judge,
    diagnose=_diagnose,
)

"""Puzzle `ring_all_gather`: every piece to every rank, round a ring."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.collectives.pieces import (
    CASES,
    numbers,
    pieces,
    random_case,
)
from gpu_course.puzzle.on_ranks import (
    as_wide,
    by_hand,
    ranks_of,
    round_the_other_way,
    round_the_ring,
    standstill,
    within_bytes,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Case,
    Judgement,
    PerRank,
    PythonPuzzle,
    Values,
)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    whole = pieces(numbers(rng, case), ranks_of(case))
    return {"piece": PerRank(tuple(whole)), "lengths": [piece.size for piece in whole]}


def _whole(inputs: Values) -> np.ndarray:
    return np.concatenate(inputs["piece"].parts)


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": (_whole(inputs),) * ranks_of(case)}


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    ranks, wire = ranks_of(case), got["wire"]
    sizes = [piece.nbytes for piece in inputs["piece"].parts]
    # The right neighbour's own piece is the only one that it has already.
    due = [sum(sizes) - sizes[(rank + 1) % ranks] for rank in range(ranks)]
    return (
        by_hand(wire)
        or within_bytes(wire, due)
        or round_the_ring(wire, ranks)
        or as_wide(wire, sum(due))
    )


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if got.get("failed") == "sizes-differ":
        parts = inputs["piece"].parts
        return "length-of-another" if len({part.size for part in parts}) > 1 else None
    return standstill(got) or round_the_other_way(got, ranks_of(case))


RING_ALL_GATHER = PythonPuzzle(
    **puzzle_fields(__file__),
    ranks=ranks_of,
    torch=True,
    cases=CASES,
    random_case=random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    diagnose=_diagnose,
)

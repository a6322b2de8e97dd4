"""Puzzle `ring_all_gather`: every piece to every rank, round a ring."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gpu_course.lessons.collectives.pieces import (
    CASES,
    numbers,
    pieces,
    random_case,
    same,
)
from gpu_course.puzzle.digits import to_seven_digits
from gpu_course.puzzle.on_ranks import (
    as_wide,
    by_hand,
    ranks_of,
    round_the_ring,
    sends,
    standstill,
    within_bytes,
)
from gpu_course.puzzle.room import told
from gpu_course.puzzle.specification import (
    Case,
    Finding,
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


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
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
    ranks, parts, wire = ranks_of(case), inputs["piece"].parts, got["wire"]
    if got.get("failed") == "sizes-differ":
        return "length-of-another" if len({part.size for part in parts}) > 1 else None
    if "failed" in got:
        return standstill(got)
    if to_seven_digits(expected, got):
        return "seven-digits"
    if ranks == 1:
        return None
    result, whole = got["result"], _whole(inputs)
    size = whole.size
    if same(result, [np.concatenate(parts[rank:] + parts[:rank]) for rank in range(ranks)]):
        return "own-piece-first"
    arrived = [[parts[(rank - step) % ranks] for step in range(ranks)] for rank in range(ranks)]
    if same(result, [np.concatenate(each) for each in arrived]):
        return "in-order-of-arrival"
    if all(np.ndim(each) == 1 and np.size(each) == size for each in result):
        if all(_shows(each, parts, (0.0,)) for each in result):
            steps = {len(sends(wire, rank)) for rank in range(ranks)}
            return "one-step-too-few" if steps == {ranks - 2} else "pieces-missing"
        if all(_holds_only_own(each, parts, rank) for rank, each in enumerate(result)):
            return "own-piece-everywhere"
    if any(not sends(wire, rank) for rank in range(ranks)):
        return "open-ring"
    return "sends-its-own-again" if _always_its_own(inputs, got) else None


def _always_its_own(inputs: Values, got: Values) -> bool:
    """Whether each rank holds its own piece and that of its left neighbour, and no others."""
    parts, result = inputs["piece"].parts, got["result"]
    ranks = len(parts)
    for rank, each in enumerate(result):
        known = {*parts[rank].tolist(), *parts[(rank - 1) % ranks].tolist(), 0.0}
        if not set(np.asarray(each).tolist()) <= known:
            return False
    return ranks > 2


def _shows(result: np.ndarray, parts: tuple[np.ndarray, ...], otherwise: tuple[float, ...]) -> bool:
    """Whether each piece is in its place, or its place holds nothing but these numbers."""
    ends = np.cumsum([0, *(part.size for part in parts)])
    return all(
        np.array_equal(result[start:stop], part) or set(result[start:stop]) <= set(otherwise)
        for part, (start, stop) in zip(parts, pairwise(ends.tolist()), strict=True)
    )


def _holds_only_own(result: np.ndarray, parts: tuple[np.ndarray, ...], rank: int) -> bool:
    return set(result.tolist()) <= set(parts[rank].tolist())


RING_ALL_GATHER = PythonPuzzle(
    **told(__file__),
    ranks=ranks_of,
    torch=True,
    cases=CASES,
    random_case=random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    diagnose=_diagnose,
)

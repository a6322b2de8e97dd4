"""Puzzle `all_reduce`: the sum of all ranks on every rank, for 2 (n - 1) / n of its bytes."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.collectives.pieces import (
    CASES,
    TOLERANCE,
    pieces,
    random_case,
    summed,
    whole_on_each,
)
from gpu_course.puzzle.on_ranks import (
    FLOAT64_BYTES,
    as_wide,
    by_hand,
    ranks_of,
    sends,
    standstill,
    within_bytes,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": (summed(inputs),) * ranks_of(case)}


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    ranks, wire = ranks_of(case), got["wire"]
    length = inputs["x"].parts[0].size
    # Which pieces go twice is free, and so is whether they go round or straight to their rank.
    most = 2 * (ranks - 1) * -(-length // ranks)
    finding = by_hand(wire) or within_bytes(wire, [FLOAT64_BYTES * most] * ranks)
    if finding is None:
        # All that is added up has to come together once, and to go out once.
        return as_wide(wire, 2 * (ranks - 1) * FLOAT64_BYTES * length)
    counts = [len(sends(wire, rank)) for rank in range(ranks)]
    if finding.key == "too-many-bytes" and counts and _hub(got, ranks):
        return Judgement("through-one-rank", finding.fact, finding.reason, finding.line)
    return finding


def _hub(got: Values, ranks: int) -> bool:
    """Whether every message begins or ends at one and the same rank."""
    ends = [{call.rank, call.peer} for call in got["wire"] if call.kind == "send"]
    return ranks > 2 and bool(ends) and bool(set.intersection(*ends))


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """Knows what is missing by its size, and by how many pieces are right on each rank."""
    if "failed" in got:
        return standstill(got)
    ranks, total = ranks_of(case), expected["result"][0]
    if any(np.size(each) < total.size for each in got["result"]):
        return "rest-dropped"
    right = zip(*(pieces(each, ranks) for each in (*got["result"], total)), strict=True)
    whole = np.array([[np.array_equal(each, own[-1]) for each in own[:-1]] for own in right])
    return "scattered-only" if ranks > 1 and (whole.sum(axis=0) == 1).all() else None


ALL_REDUCE = PythonPuzzle(
    **puzzle_fields(__file__),
    ranks=ranks_of,
    torch=True,
    cases=CASES,
    random_case=random_case,
    inputs=whole_on_each,
    reference=_reference,
    tolerance=TOLERANCE,
    judge=_judge,
    diagnose=_diagnose,
)

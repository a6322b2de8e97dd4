"""Puzzle `ring_reduce_scatter`: on each rank one piece of the sum, round a ring."""

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
    round_the_other_way,
    round_the_ring,
    sends,
    standstill,
    within_bytes,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": tuple(pieces(summed(inputs), ranks_of(case)))}


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    ranks, wire = ranks_of(case), got["wire"]
    lengths = [piece.size for piece in pieces(inputs["x"].parts[0], ranks)]
    # Each piece leaves a rank once, but for the one that ends there.
    due = [FLOAT64_BYTES * (sum(lengths) - own) for own in lengths]
    return (
        by_hand(wire)
        or within_bytes(wire, due)
        or round_the_ring(wire, ranks)
        or as_wide(wire, sum(due))
    )


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """Knows too many steps and too few by the sends, whatever they left behind."""
    ranks = ranks_of(case)
    if "failed" in got:
        return round_the_other_way(got, ranks) or standstill(got)
    if sum(np.size(each) for each in got["result"]) < inputs["x"].parts[0].size:
        return "rest-dropped"
    steps = {len(sends(got["wire"], rank)) for rank in range(ranks)}
    if ranks > 1 and steps in ({ranks}, {ranks - 2}):
        return "one-step-too-many" if steps == {ranks} else "one-step-too-few"
    return round_the_other_way(got, ranks)


RING_REDUCE_SCATTER = PythonPuzzle(
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

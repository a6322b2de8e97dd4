"""Puzzle `all_reduce`: the sum of all ranks on every rank, for 2 (n - 1) / n of its bytes."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.collectives.pieces import (
    CASES,
    TOLERANCE,
    pieces,
    random_case,
    same,
    summed,
    whole_on_each,
)
from gpu_course.puzzle.digits import to_seven_digits
from gpu_course.puzzle.on_ranks import (
    FLOAT64_BYTES,
    as_wide,
    by_hand,
    ranks_of,
    sends,
    standstill,
    within_bytes,
)
from gpu_course.puzzle.room import told
from gpu_course.puzzle.specification import Case, Finding, PythonPuzzle, Values


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": (summed(inputs),) * ranks_of(case)}


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
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
        return Finding("through-one-rank", finding.fact, finding.reason, finding.line)
    return finding


def _hub(got: Values, ranks: int) -> bool:
    """Whether every message begins or ends at one and the same rank."""
    ends = [{call.rank, call.peer} for call in got["wire"] if call.kind == "send"]
    return ranks > 2 and bool(ends) and bool(set.intersection(*ends))


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    ranks, parts = ranks_of(case), inputs["x"].parts
    if "failed" in got:
        return standstill(got)
    if to_seven_digits(expected, got):
        return "seven-digits"
    if ranks == 1:
        return None
    result, total = got["result"], expected["result"][0]
    if same(result, [total / ranks] * ranks):
        return "averaged"
    if not any(sends(got["wire"], rank) for rank in range(ranks)):
        return "nothing-sent"
    cut = [pieces(each, ranks) for each in result]
    summed_pieces = pieces(total, ranks)
    if all(_is_turned(each, summed_pieces) for each in result):
        return "pieces-turned"
    if _added_again(inputs, got, total):
        return "added-twice"
    right = [np.array_equal(each, total) for each in result]
    if sum(right) == 1:
        return "one-rank-alone"
    size = len(parts[0]) // ranks * ranks
    if any(np.size(each) < total.size for each in result):
        return "rest-dropped"
    if len(parts[0]) > size and all(np.array_equal(e[:size], total[:size]) for e in result):
        return "rest-dropped"
    whole = [[np.array_equal(c[k], summed_pieces[k]) for k in range(ranks)] for c in cut]
    if all(sum(row) == 1 for row in whole):
        return "scattered-only"
    return None


def _is_turned(result: np.ndarray, summed_pieces: list[np.ndarray]) -> bool:
    """Whether a result holds all pieces of the sum, begun at any place of the ring."""
    ranks = len(summed_pieces)
    return any(
        np.array_equal(result, np.concatenate(summed_pieces[turn:] + summed_pieces[:turn]))
        for turn in range(ranks)
    )


def _added_again(inputs: Values, got: Values, total: np.ndarray) -> bool:
    """Whether each number is the sum and again, some times, what some ranks hold.

    What is added in the second half is handed on, so it may be added at the next rank once more.
    """
    ranks = len(got["result"])
    if not np.isfinite(total).all():
        return False
    own = [pieces(part, ranks) for part in inputs["x"].parts]
    right = pieces(total, ranks)
    for result in got["result"]:
        if np.shape(result) != total.shape:
            return False
        for k, piece in enumerate(pieces(result, ranks)):
            beyond = piece - right[k]
            shares = [np.zeros_like(beyond)]
            for each in own:
                shares = [share + times * each[k] for share in shares for times in range(ranks)]
            if not any(np.array_equal(beyond, share) for share in shares):
                return False
    return True


ALL_REDUCE = PythonPuzzle(
    **told(__file__),
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

"""Puzzle `all_reduce`: the sum of all ranks on every rank, for 2 (n - 1) / n of its bytes."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.collectives.pieces import (
    CASES,
    DIAGNOSES,
    FLOAT64_BYTES,
    TOLERANCE,
    as_wide,
    by_hand,
    pieces,
    random_case,
    ranks_of,
    same,
    sends,
    standstill,
    summed,
    whole_on_each,
    within_bytes,
)
from gpu_course.puzzle.digits import to_seven_digits
from gpu_course.puzzle.specification import Case, Debrief, Finding, Mistake, PythonPuzzle, Values


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


DEBRIEF = Debrief(
    shows=("bytes_sent", "messages"),
    why=(
        "A reduce-scatter leaves one finished piece on each rank, and an all-gather hands the "
        "pieces out. Each half sends all pieces but one, so together 2 (n - 1) / n of the buffer."
    ),
    alternative=(
        "Where n is a power of two, halve and double: exchange halves with the rank n / 2 away, "
        "then quarters, and back the same way. The same bytes in 2 log2(n) steps."
    ),
)

ALL_REDUCE = PythonPuzzle(
    name="21_collectives/all_reduce",
    title="the sum on every rank",
    difficulty="medium",
    minutes=15,
    debrief=DEBRIEF,
    statement=(
        "Every rank holds a buffer. Let every rank end with the sum of all of them, and let no "
        "rank send more than 2 (n - 1) / n times the buffer's bytes."
    ),
    parameters={"all_reduce": ("x",)},
    ranks=ranks_of,
    torch=True,
    cases=CASES,
    random_case=random_case,
    inputs=whole_on_each,
    reference=_reference,
    tolerance=TOLERANCE,
    judge=_judge,
    diagnose=_diagnose,
    diagnoses={
        **DIAGNOSES,
        "averaged": (
            "Each number is the mean over the ranks. Asked for is their sum: whoever wants a mean "
            "divides afterwards."
        ),
        "nothing-sent": (
            "No rank sent anything, so each knows its own numbers alone. What do the others hold?"
        ),
        "one-rank-alone": (
            "One rank holds the sum, and the others do not. What was gathered in one place has to "
            "go out again."
        ),
        "rest-dropped": (
            "The numbers at the end are not in the sum. The number of ranks need not divide the "
            "length; tensor_split gives the first pieces one number more."
        ),
        "scattered-only": (
            "On each rank one piece is summed and the others are not. That is the first half: how "
            "does every rank come by the finished pieces of the others?"
        ),
        "pieces-turned": (
            "All pieces of the sum are there, in another order. Which piece is finished on this "
            "rank after the first half? The second half has to start from that number."
        ),
        "added-twice": (
            "What some rank holds is in the sum twice. In the second half, what has to happen to "
            "a finished piece that arrives: is it added, or put in its place?"
        ),
        "through-one-rank": (
            "The result is right, and all of it went through one rank. Its link carries the "
            "buffers of all others while theirs are idle: how could every rank do an equal part?"
        ),
    },
    hints=(
        "You have written both halves: first one that sums, then one that hands out.",
        (
            "After a reduce-scatter round the ring, rank r holds the finished piece r. An "
            "all-gather round the same ring begins with exactly that."
        ),
        (
            "Copy the pieces of x into a list. n - 1 steps: send one, receive one, put the sum in "
            "its place. Then n - 1 steps more: send the finished one, and put what arrives in its "
            "place as it is."
        ),
    ),
    equivalent_mutants={
        f"all_reduce:operand-dropped:{line}": (
            "No place is below -n, and from there on Python counts places from the end."
        )
        for line in (
            "buffer = torch.empty_like(pieces[arrives])",
            "for work in [dist.isend(pieces[leaves], right), dist.irecv(buffer, left)]:",
            "pieces[r - step - 2] += pass_on(r - step - 1, r - step - 2)",
            "pieces[r - step - 1] = pass_on(r - step, r - step - 1)",
        )
    },
    mistakes=(
        Mistake("receives_before_it_sends", "hazard", "receives-first"),
        Mistake("sends_before_it_receives", "hazard", "sends-first"),
        Mistake("begins_and_goes_on", "hazard", "not-waited"),
        Mistake("averages", "wrong-result", "averaged"),
        Mistake("sums_its_own_pieces", "wrong-result", "nothing-sent"),
        Mistake("only_to_rank_0", "wrong-result", "one-rank-alone"),
        Mistake("drops_the_rest", "wrong-result", "rest-dropped"),
        Mistake("first_half_only", "wrong-result", "scattered-only"),
        Mistake("hands_out_from_the_wrong_piece", "wrong-result", "pieces-turned"),
        Mistake("adds_in_the_second_half_too", "wrong-result", "added-twice"),
        Mistake("adds_in_place", "input-changed", "input-changed"),
        Mistake("everything_round_the_ring", "over-budget", "too-many-bytes"),
        Mistake("through_rank_0", "over-budget", "through-one-rank"),
        Mistake("asks_the_library", "refused", "library-collective"),
        Mistake("sends_them_in_float32", "refused", "narrowed"),
    ),
    source=(
        "Patarasuk, Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, "
        "JPDC 69(2), 2009; Thakur, Rabenseifner, Gropp, Optimization of collective communication "
        "operations in MPICH, IJHPCA 19(1), 2005"
    ),
)

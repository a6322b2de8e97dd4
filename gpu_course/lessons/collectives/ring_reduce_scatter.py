"""Puzzle `ring_reduce_scatter`: on each rank one piece of the sum, round a ring."""

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
    round_the_ring,
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
    return {"result": tuple(pieces(summed(inputs), ranks_of(case)))}


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
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
    ranks, parts = ranks_of(case), inputs["x"].parts
    if "failed" in got:
        return _direction(got, ranks) or standstill(got)
    if to_seven_digits(expected, got):
        return "seven-digits"
    right, result = expected["result"], got["result"]
    if ranks == 1:
        return None
    if sum(np.size(each) for each in result) < parts[0].size:
        return "rest-dropped"
    if same(result, [piece / ranks for piece in right]):
        return "averaged"
    for turn in (1, -1):
        if same(result, [right[(rank + turn) % ranks] for rank in range(ranks)]):
            return "piece-of-a-neighbour"
    if any(not sends(got["wire"], rank) for rank in range(ranks)):
        return "open-ring"
    own = [pieces(part, ranks) for part in parts]
    if all(any(np.array_equal(result[rank], each[rank]) for each in own) for rank in range(ranks)):
        return "not-added"
    steps = {len(sends(got["wire"], rank)) for rank in range(ranks)}
    if steps == {ranks}:
        return "one-step-too-many"
    return "one-step-too-few" if steps == {ranks - 2} else _direction(got, ranks)


def _direction(got: Values, ranks: int) -> str | None:
    """The key of sends that go round the other way; with two ranks both ways are one."""
    told = [call for call in got["wire"] if call.kind == "send"]
    left = all(call.peer == (call.rank - 1) % ranks for call in told)
    return "wrong-neighbour" if told and left and ranks > 2 else None


DEBRIEF = Debrief(
    shows=("bytes_sent", "messages"),
    why=(
        "In each step every rank sends one piece and adds its own share to the one that arrives. "
        "After n - 1 steps each piece has been at every rank, and it stops where it belongs."
    ),
    alternative=(
        "Every rank could send piece k straight to rank k: the same bytes and the same number of "
        "messages, but links between all pairs. A ring needs n of them."
    ),
)

RING_REDUCE_SCATTER = PythonPuzzle(
    name="21_collectives/ring_reduce_scatter",
    title="one piece of the sum for each",
    difficulty="medium",
    minutes=15,
    debrief=DEBRIEF,
    statement=(
        "Every rank holds numbers for all pieces. Send pieces round a ring and add on the way, so "
        "that rank r ends with the sum over all ranks of piece r."
    ),
    parameters={"ring_reduce_scatter": ("x",)},
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
        "rest-dropped": (
            "Together the pieces are shorter than x. The number of ranks need not divide the "
            "length; tensor_split gives the first pieces one number more."
        ),
        "averaged": "Each number is the mean over the ranks. Asked for is their sum.",
        "piece-of-a-neighbour": (
            "The sums are right, and each rank holds the piece of a neighbour. Follow one piece "
            "backward: where does it have to start so that it ends at the rank of its number?"
        ),
        "open-ring": (
            "Some rank sends nothing, so this is a line. In a ring the last rank has a right "
            "neighbour too: which number has it?"
        ),
        "not-added": (
            "Each rank ends with the piece of one single rank. What arrives goes on in the next "
            "step: what has to happen to it in between?"
        ),
        "one-step-too-many": (
            "Each rank sends as many messages as there are ranks. How many other ranks does a "
            "piece have to visit after the one it starts at?"
        ),
        "one-step-too-few": (
            "The last share is missing in every piece. How many other ranks does a piece have to "
            "visit after the one it starts at?"
        ),
        "wrong-neighbour": (
            "These messages go to rank (r - 1) % n. The ring of this puzzle runs the other way: "
            "each rank sends to its right neighbour and receives from the left one."
        ),
        "input-changed": (
            "The tensor x was written to. tensor_split gives views, so adding in place to a piece "
            "changes x; make a new tensor of the sum."
        ),
    },
    hints=(
        (
            "With three ranks, draw a table: a row for each step, a column for each rank, and in "
            "it which piece the rank sends. Begin at the end: after the last step piece r is at "
            "rank r."
        ),
        (
            "In step s, from 0 on, a rank passes on the piece that it received in step s - 1. The "
            "numbers of the pieces that one rank sends go down by one each step, around the ring."
        ),
        (
            "Rank r begins with piece (r - 1) % n. In each of n - 1 steps: begin the receive and "
            "the send, wait for both, and add your own share to what came."
        ),
    ),
    equivalent_mutants={
        "ring_reduce_scatter:operand-dropped:mine = own[r - step - 2]": (
            "It is never below -n, and from there on Python counts places of a list from the end."
        ),
    },
    mistakes=(
        Mistake("receives_before_it_sends", "hazard", "receives-first"),
        Mistake("sends_before_it_receives", "hazard", "sends-first"),
        Mistake("sends_to_the_left", "hazard", "wrong-neighbour"),
        Mistake("numbers_its_messages", "hazard", "tags-differ"),
        Mistake("does_not_wait", "hazard", "not-waited"),
        Mistake("begins_with_its_own_piece", "wrong-result", "piece-of-a-neighbour"),
        Mistake("one_round_too_many", "wrong-result", "one-step-too-many"),
        Mistake("one_round_too_few", "wrong-result", "one-step-too-few"),
        Mistake("passes_on_without_adding", "wrong-result", "not-added"),
        Mistake("drops_the_rest", "wrong-result", "rest-dropped"),
        Mistake("divides_at_the_end", "wrong-result", "averaged"),
        Mistake("the_last_rank_sends_nothing", "wrong-result", "open-ring"),
        Mistake("adds_in_place", "input-changed", "input-changed"),
        Mistake("sends_all_of_it", "over-budget", "too-many-bytes"),
        Mistake("straight_to_its_rank", "over-budget", "not-a-ring"),
        Mistake("asks_the_library", "refused", "library-collective"),
        Mistake("sends_them_in_float32", "refused", "narrowed"),
    ),
    source=(
        "Patarasuk, Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, "
        "JPDC 69(2), 2009"
    ),
)

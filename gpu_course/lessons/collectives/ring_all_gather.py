"""Puzzle `ring_all_gather`: every piece to every rank, round a ring."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gpu_course.lessons.collectives.pieces import (
    CASES,
    DIAGNOSES,
    as_wide,
    by_hand,
    numbers,
    pieces,
    random_case,
    ranks_of,
    round_the_ring,
    same,
    sends,
    standstill,
    within_bytes,
)
from gpu_course.puzzle.digits import to_seven_digits
from gpu_course.puzzle.specification import (
    Case,
    Debrief,
    Finding,
    Mistake,
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


DEBRIEF = Debrief(
    shows=("bytes_sent", "messages"),
    why=(
        "A rank passes on what it received in the step before, so every piece walks round the "
        "ring. After n - 1 steps it has been at all ranks, and no rank has received one twice."
    ),
    alternative=(
        "Where n is a power of two, exchange what you have with the rank 1 away, then 2, then 4: "
        "the same bytes in log2(n) steps, and messages that double each time."
    ),
)

RING_ALL_GATHER = PythonPuzzle(
    name="21_collectives/ring_all_gather",
    title="every piece to everyone",
    difficulty="medium",
    minutes=10,
    debrief=DEBRIEF,
    statement=(
        "Every rank holds one piece. Pass pieces round a ring until every rank has all of them, "
        "in the order of the ranks."
    ),
    parameters={"ring_all_gather": ("piece", "lengths")},
    ranks=ranks_of,
    torch=True,
    cases=CASES,
    random_case=random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    diagnose=_diagnose,
    diagnoses={
        **DIAGNOSES,
        "own-piece-first": (
            "Every piece is there, and each rank begins with its own. The piece of rank 0 comes "
            "first everywhere: at which place does a piece belong that arrives?"
        ),
        "in-order-of-arrival": (
            "Every piece is there, in the order in which they came. From which rank is the piece "
            "that arrives in step s?"
        ),
        "length-of-another": (
            "A receive is not as long as what is sent to it. Whose piece arrives in this step, "
            "and how long is it?"
        ),
        "one-step-too-few": (
            "One piece is missing on each rank. How many pieces are there that a rank does not "
            "have at the beginning?"
        ),
        "pieces-missing": (
            "What is there stands at its place, and other places are still empty. Which pieces "
            "does a rank have after the first step, and which of them does its neighbour lack?"
        ),
        "own-piece-everywhere": (
            "Each rank holds its own piece at all places. What has to become of what arrives?"
        ),
        "sends-its-own-again": (
            "A rank has its own piece and its left neighbour's, and no other. In the second step, "
            "which piece does the right neighbour still need from you?"
        ),
        "input-changed": (
            "Something was received into the tensor `piece` itself. Whose piece arrives in that "
            "step, and what is its place?"
        ),
        "open-ring": (
            "Some rank sends nothing, so this is a line. In a ring the last rank has a right "
            "neighbour too: which number has it?"
        ),
    },
    hints=(
        (
            "After the first step each rank has two pieces. Its right neighbour has one of these "
            "already: send the other."
        ),
        (
            "In step s, from 0 on, rank r passes on the piece of rank (r - s) % n. Which piece "
            "comes in from the left at the same time?"
        ),
        (
            "Make an empty tensor of the right length for every piece, and put your own in its "
            "place. Then n - 1 steps: begin the receive and the send, wait for both. torch.cat at "
            "the end."
        ),
    ),
    equivalent_mutants={
        (
            "ring_all_gather:operand-dropped:leaves, arrives = "
            f"(pieces[{leaves}], pieces[{arrives}])"
        ): "No place is below -n, and from there on Python counts places from the end."
        for leaves, arrives in (
            ("r - step", "(r - step - 1) % n"),
            ("(r - step) % n", "r - step - 1"),
        )
    },
    mistakes=(
        Mistake("receives_before_it_sends", "hazard", "receives-first"),
        Mistake("sends_before_it_receives", "hazard", "sends-first"),
        Mistake("numbers_its_messages", "hazard", "tags-differ"),
        Mistake("begins_and_returns", "hazard", "not-waited"),
        Mistake("all_as_long_as_mine", "hazard", "length-of-another"),
        Mistake("own_piece_first", "wrong-result", "own-piece-first"),
        Mistake("in_order_of_arrival", "wrong-result", "in-order-of-arrival"),
        Mistake("stops_one_step_early", "wrong-result", "one-step-too-few"),
        Mistake("one_exchange", "wrong-result", "pieces-missing"),
        Mistake("forgets_what_arrived", "wrong-result", "own-piece-everywhere"),
        Mistake("sends_its_own_each_time", "wrong-result", "sends-its-own-again"),
        Mistake("sends_all_it_has", "over-budget", "too-many-bytes"),
        Mistake("one_round_too_many", "exception", "sends-to-itself"),
        Mistake("sends_to_everyone", "over-budget", "not-a-ring"),
        Mistake("asks_the_library", "refused", "library-collective"),
        Mistake("sends_them_in_float32", "refused", "narrowed"),
    ),
    source=(
        "Patarasuk, Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, "
        "JPDC 69(2), 2009"
    ),
)

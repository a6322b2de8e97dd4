"""Puzzle `ulysses_backward`: the exchanges of the forward pass, each the other way round."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from gpu_course.lessons.context_parallel.pieces import (
    TOLERANCE,
    case,
    dealt,
    drawn_tensors,
    gradients,
    places_of,
    within_booked,
)
from gpu_course.puzzle.on_ranks import FLOAT64_BYTES, ranks_of, standstill
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Case,
    Judgement,
    PerRank,
    PythonPuzzle,
    Values,
)
from gpu_course.ranks.calls import Call


def _random_case(rng: np.random.Generator) -> Case:
    ranks = int(rng.choice([2, 3]))
    length = ranks * int(rng.integers(3, 9)) + int(rng.integers(1, ranks))
    return case(ranks, length, "sizes drawn at random", heads=ranks * int(rng.integers(1, 4)))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    whole, places = drawn_tensors(rng, case, ("q", "k", "v", "dout")), places_of(case)
    by_heads = {
        name: PerRank(tuple(np.split(whole[name], ranks_of(case)))) for name in ("q", "k", "v")
    }
    return {
        "function": "ulysses_backward",
        "measured": False,
        "dout": dealt(whole["dout"], places),
        **by_heads,
        "tokens": [len(own) for own in places],
        "causal": bool(case.sizes["causal"]),
    }


Triple = tuple[np.ndarray, ...]


def _whole(inputs: Values, causal: bool) -> Triple:
    """Returns (dq, dk, dv) of all heads and tokens."""
    q, k, v = (np.concatenate(inputs[name].parts) for name in "qkv")
    return gradients(q, k, v, np.concatenate(inputs["dout"].parts, axis=1), causal)


def _cut(inputs: Values, found: Sequence[np.ndarray]) -> tuple[Triple, ...]:
    """Returns for each rank the gradients of its tokens."""
    ends = np.cumsum(inputs["tokens"])[:-1]
    return tuple(zip(*(np.split(each, ends, axis=1) for each in found), strict=True))


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": _cut(inputs, _whole(inputs, inputs["causal"]))}


def allowed_bytes(case: Case, tokens: Sequence[int], rank: int) -> Fraction:
    """Returns the most bytes that a rank needs to send."""
    ranks, total = ranks_of(case), sum(tokens)
    token = Fraction(FLOAT64_BYTES * case.sizes["heads"] * case.sizes["width"])
    there = token * tokens[rank] * Fraction(ranks - 1, ranks)
    return there + 3 * token / ranks * (total - tokens[rank])


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    ranks = range(ranks_of(case))
    allowed = [allowed_bytes(case, inputs["tokens"], rank) for rank in ranks]
    return within_booked(got["wire"], allowed, _why)


def _why(own: Sequence[Call]) -> str:
    others = {call.kind for call in own} - {"send", "all_to_all"}
    return "everything-to-all" if others else "too-many-bytes"


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    return standstill(got)


def _call(inputs: Values) -> str:
    held = ", ".join(map(str, inputs["tokens"]))
    heads = inputs["dout"].parts[0].shape[0]
    return f"ulysses_backward(..., [{held}], {inputs['causal']}), {heads} heads"


ULYSSES_BACKWARD = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.puzzle.harness.on_rank",
    ranks=ranks_of,
    torch=True,
    cases=(
        case(2, 6, "visible example", visible=True, heads=4),
        case(2, 7),
        case(3, 8, heads=6, causal=0),
        # The last rank has no token.
        case(3, 2, heads=3),
        # So long that what is sent beside the calls would show.
        case(3, 241, heads=6, width=8),
        case(1, 4, heads=3),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=TOLERANCE,
    judge=_judge,
    diagnose=_diagnose,
    call=_call,
)

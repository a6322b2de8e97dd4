"""Puzzle `ulysses`: tokens for heads, and heads for tokens."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from gpu_course.lessons.context_parallel.pieces import (
    TOLERANCE,
    attention,
    case,
    dealt,
    drawn_tensors,
    places_of,
    within_booked,
)
from gpu_course.puzzle.harness.refusing import REFUSED
from gpu_course.puzzle.on_ranks import FLOAT64_BYTES, ranks_of, standstill
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values
from gpu_course.ranks.calls import Call


def _random_case(rng: np.random.Generator) -> Case:
    ranks = int(rng.choice([2, 3]))
    length = ranks * int(rng.integers(3, 9)) + int(rng.integers(1, ranks))
    return case(ranks, length, "sizes drawn at random", heads=ranks * int(rng.integers(1, 4)))


def _refuses(case: Case) -> bool:
    return bool(case.sizes["heads"] % ranks_of(case))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    whole, places = drawn_tensors(rng, case, "qkv"), places_of(case)
    return {
        "function": "ulysses",
        "measured": False,
        "refuses": _refuses(case),
        **{name: dealt(value, places) for name, value in whole.items()},
        "tokens": [len(own) for own in places],
        "causal": bool(case.sizes["causal"]),
    }


def _whole(inputs: Values, name: str) -> np.ndarray:
    return np.concatenate(inputs[name].parts, axis=1)


def _cut(inputs: Values, whole: np.ndarray) -> list[np.ndarray]:
    """The tokens of each rank."""
    ends = np.cumsum(inputs["tokens"])[:-1]
    return np.split(whole, ends, axis=1)


def _reference(inputs: Values, case: Case) -> Values:
    if _refuses(case):
        return {"result": (REFUSED,) * ranks_of(case)}
    q, k, v = (_whole(inputs, name) for name in "qkv")
    out, _ = attention(q, k, v, inputs["causal"])
    return {"result": tuple(_cut(inputs, out))}


def allowed_bytes(case: Case, tokens: Sequence[int], rank: int) -> Fraction:
    """Returns the most bytes that a rank needs to send."""
    if _refuses(case):
        return Fraction(0)
    ranks, total = ranks_of(case), sum(tokens)
    token = Fraction(FLOAT64_BYTES * case.sizes["heads"] * case.sizes["width"])
    there = 3 * token * tokens[rank] * Fraction(ranks - 1, ranks)
    return there + token / ranks * (total - tokens[rank])


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    ranks = range(ranks_of(case))
    allowed = [allowed_bytes(case, inputs["tokens"], rank) for rank in ranks]
    return within_booked(got["wire"], allowed, lambda own: _why(case, own))


def _why(case: Case, own: Sequence[Call]) -> str:
    if _refuses(case):
        return "refused-too-late"
    kinds = {call.kind for call in own}
    return "everything-to-all" if kinds - {"send", "all_to_all"} else "too-many-heads"


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if _refuses(case):
        return "not-refused"  # heads that nobody can share out end as parts of unlike sizes
    uneven = len(set(inputs["tokens"])) > 1
    return "tokens-alike" if got.get("failed") == "sizes-differ" and uneven else standstill(got)


def _call(inputs: Values) -> str:
    held = ", ".join(map(str, inputs["tokens"]))
    heads = inputs["q"].parts[0].shape[0]
    return f"ulysses(q, k, v, [{held}], {inputs['causal']}), {heads} heads"


ULYSSES = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.puzzle.harness.on_rank",
    ranks=ranks_of,
    torch=True,
    cases=(
        case(2, 6, "visible example", visible=True, heads=4),
        case(2, 7),
        case(3, 8, heads=6, causal=0),
        case(3, 10, "4 heads on 3 ranks: a ValueError", heads=4),
        case(3, 7, "fewer heads than ranks: a ValueError", heads=2),
        # The last rank has no token.
        case(3, 2, heads=3),
        # So long that what is sent beside the calls would show.
        case(3, 241, heads=6, width=8),
        case(1, 4, heads=3),
        case(2, 9, heads=2, causal=0),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=TOLERANCE,
    judge=_judge,
    diagnose=_diagnose,
    call=_call,
)

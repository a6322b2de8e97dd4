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
    drawn,
    near,
    places_of,
)
from gpu_course.puzzle.digits import to_seven_digits
from gpu_course.puzzle.on_ranks import FLOAT64_BYTES, ranks_of, standstill
from gpu_course.puzzle.room import told
from gpu_course.puzzle.specification import Case, Finding, PythonPuzzle, Values
from gpu_course.ranks.calls import Call
from gpu_course.ranks.traffic import booked_bytes


def _random_case(rng: np.random.Generator) -> Case:
    ranks = int(rng.choice([2, 3]))
    length = ranks * int(rng.integers(3, 9)) + int(rng.integers(1, ranks))
    return case(ranks, length, "sizes drawn at random", heads=ranks * int(rng.integers(1, 4)))


def _refuses(case: Case) -> bool:
    return bool(case.sizes["heads"] % ranks_of(case))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    whole, places = drawn(rng, case, "qkv"), places_of(case)
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
        return {"result": ("ValueError",) * ranks_of(case)}
    q, k, v = (_whole(inputs, name) for name in "qkv")
    out, _ = attention(q, k, v, inputs["causal"])
    return {"result": tuple(_cut(inputs, out))}


def allowed_bytes(case: Case, tokens: Sequence[int], rank: int) -> Fraction:
    """Returns the most bytes that a rank needs to send.

    On the way back a call of the library is booked as if all ranks had equally many tokens.
    """
    if _refuses(case):
        return Fraction(0)
    ranks, total = ranks_of(case), sum(tokens)
    token = Fraction(FLOAT64_BYTES * case.sizes["heads"] * case.sizes["width"])
    there = 3 * token * tokens[rank] * Fraction(ranks - 1, ranks)
    back = token / ranks * max(Fraction(total - tokens[rank]), Fraction(total * (ranks - 1), ranks))
    return there + back


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
    for rank in range(ranks_of(case)):
        own = [call for call in got["wire"] if call.rank == rank and call.kind != "recv"]
        sent = booked_bytes(own)
        most = allowed_bytes(case, inputs["tokens"], rank)
        if sent > most:
            largest = max(own, key=lambda call: call.booked_bytes)
            fact = f"rank {rank} sends {float(sent):,.0f} bytes; {float(most):,.0f} will do"
            return Finding(_why(case, own), fact, "over-budget", largest.line)
    return None


def _why(case: Case, own: Sequence[Call]) -> str:
    if _refuses(case):
        return "refused-too-late"
    kinds = {call.kind for call in own}
    return "everything-to-all" if kinds - {"send", "all_to_all"} else "too-many-heads"


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if "failed" in got:
        if _refuses(case):
            return "not-refused"  # heads that nobody can share out end as parts of unlike sizes
        uneven = len(set(inputs["tokens"])) > 1
        return "tokens-alike" if got["failed"] == "sizes-differ" and uneven else standstill(got)
    ranks, result = ranks_of(case), got["result"]
    if _refuses(case):
        return "not-refused"
    if to_seven_digits(expected, got):
        return "seven-digits"
    right = expected["result"]
    q, k, v = (_whole(inputs, name) for name in "qkv")
    heads, total = case.sizes["heads"], case.sizes["length"]
    away = (heads // ranks, total, case.sizes["width"])
    shapes = {np.shape(each) for each in result}
    if ranks > 1 and shapes == {away}:
        return "not-brought-back"
    if [np.shape(each) for each in result] != [each.shape for each in right]:
        return None
    if near(result, _cut(inputs, attention(q, k, v, not inputs["causal"])[0])):
        return "ignores-causal" if inputs["causal"] else "always-causal"
    if ranks == 1:
        return None
    alone = [
        attention(q_own, k_own, v_own, inputs["causal"])[0]
        for q_own, k_own, v_own in zip(*(inputs[name].parts for name in "qkv"), strict=True)
    ]
    if near(result, alone):
        return "own-tokens-alone"
    some = [np.sort(np.asarray(each).ravel()) for each in result]
    if near(some, [np.sort(each.ravel()) for each in right]):
        return "heads-scrambled"
    if near(np.sort(np.concatenate(some)), np.sort(np.concatenate([r.ravel() for r in right]))):
        return "tokens-scrambled"
    return None


def _call(inputs: Values) -> str:
    held = ", ".join(map(str, inputs["tokens"]))
    heads = inputs["q"].parts[0].shape[0]
    return f"ulysses(q, k, v, [{held}], {inputs['causal']}), {heads} heads"


ULYSSES = PythonPuzzle(
    **told(__file__),
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

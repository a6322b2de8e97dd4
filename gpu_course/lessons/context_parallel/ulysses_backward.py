"""Puzzle `ulysses_backward`: the exchanges of the forward pass, each the other way round."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from gpu_course.lessons.collectives.pieces import standstill
from gpu_course.lessons.context_parallel.pieces import (
    DIAGNOSES,
    FLOAT64_BYTES,
    TOLERANCE,
    case,
    dealt,
    drawn,
    gradients,
    near,
    places_of,
    ranks_of,
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


def _random_case(rng: np.random.Generator) -> Case:
    ranks = int(rng.choice([2, 3]))
    length = ranks * int(rng.integers(3, 9)) + int(rng.integers(1, ranks))
    return case(ranks, length, "sizes drawn at random", heads=ranks * int(rng.integers(1, 4)))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    whole, places = drawn(rng, case, ("q", "k", "v", "dout")), places_of(case)
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
    """Returns the most bytes that a rank needs to send.

    On the way back a call of the library is booked as if all ranks had equally many tokens.
    """
    ranks, total = ranks_of(case), sum(tokens)
    token = Fraction(FLOAT64_BYTES * case.sizes["heads"] * case.sizes["width"])
    there = token * tokens[rank] * Fraction(ranks - 1, ranks)
    back = token / ranks * max(Fraction(total - tokens[rank]), Fraction(total * (ranks - 1), ranks))
    return there + 3 * back


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
    for rank in range(ranks_of(case)):
        own = [call for call in got["wire"] if call.rank == rank and call.kind != "recv"]
        sent = sum((call.booked_bytes for call in own), Fraction(0))
        most = allowed_bytes(case, inputs["tokens"], rank)
        if sent > most:
            largest = max(own, key=lambda call: call.booked_bytes)
            fact = f"rank {rank} sends {float(sent):,.0f} bytes; {float(most):,.0f} will do"
            others = {call.kind for call in own} - {"send", "all_to_all"}
            key = "everything-to-all" if others else "too-many-bytes"
            return Finding(key, fact, "over-budget", largest.line)
    return None


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if "failed" in got:
        return standstill(got)
    if to_seven_digits(expected, got):
        return "seven-digits"
    ranks, result, right = ranks_of(case), got["result"], expected["result"]
    if any(not isinstance(each, tuple | list) or len(each) != 3 for each in result):
        return "not-three"
    whole = _whole(inputs, inputs["causal"])
    if near(result, [(dk, dv, dq) for dq, dk, dv in right]):
        return "other-order"
    if near(result, _cut(inputs, _whole(inputs, not inputs["causal"]))):
        return "ignores-causal" if inputs["causal"] else "always-causal"
    if ranks == 1:
        return None
    away = tuple(zip(*(np.split(each, ranks) for each in whole), strict=True))
    if near(result, away):
        return "not-brought-back"
    if near(result, [tuple(each / ranks for each in row) for row in right]):
        return "averaged"
    some = [np.sort(np.concatenate([np.ravel(each) for each in row])) for row in result]
    if near(some, [np.sort(np.concatenate([e.ravel() for e in row])) for row in right]):
        return "heads-scrambled"
    return None


def _call(inputs: Values) -> str:
    held = ", ".join(map(str, inputs["tokens"]))
    heads = inputs["dout"].parts[0].shape[0]
    return f"ulysses_backward(..., [{held}], {inputs['causal']}), {heads} heads"


DEBRIEF = Debrief(
    shows=("booked_bytes",),
    why=(
        "An exchange only moves numbers, so its gradient moves them back. One tensor goes to the "
        "heads and three come back, where the forward pass had three and one: the bytes are the "
        "same."
    ),
    alternative=(
        "Make each exchange a torch.autograd.Function whose backward is the other exchange, as "
        "DeepSpeed does: then autograd runs this pass by itself, whatever attention stands between."
    ),
)

ULYSSES_BACKWARD = PythonPuzzle(
    name="25_context_parallel/ulysses_backward",
    title="heads for tokens",
    difficulty="easy",
    minutes=10,
    debrief=DEBRIEF,
    statement=(
        "Each rank has the gradient of its tokens, and has kept all tokens of its heads. Give each "
        "rank the gradients of q, k and v for its own tokens, for the bytes of the forward pass."
    ),
    parameters={"ulysses_backward": ("dout", "q", "k", "v", "tokens", "causal")},
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
    diagnoses={
        **{key: DIAGNOSES[key] for key in ("receives-first", "input-changed", "seven-digits")},
        "not-three": "Return three tensors: dq, dk and dv.",
        "other-order": "The gradients are right in another order. Asked for is dq, dk, dv.",
        "ignores-causal": "Queries see the keys after them too, and causal is True here.",
        "always-causal": "Queries see only what is before them, and causal is False here.",
        "not-brought-back": (
            "Each rank returns gradients for all tokens of its heads. Asked for is the form of "
            "dout: all heads of its tokens."
        ),
        "averaged": (
            "The gradients are too small by the number of ranks. Each head is on one rank alone, "
            "which sees all of its tokens: of what would they be a mean?"
        ),
        "heads-scrambled": (
            "Each rank holds the right numbers in other places. What comes back comes rank by "
            "rank, and from each rank some heads: which axis does the rank belong to?"
        ),
        "too-many-bytes": (
            "The result is right, and more was sent than one tensor there and three back. Which "
            "part of what a rank found is for which other rank?"
        ),
        "everything-to-all": (
            "The result is right, and everybody got everything, or sums of it. A head's gradients "
            "are whole where the head is: what is there to add or to gather?"
        ),
    },
    hints=(
        (
            "Draw the forward pass as three arrows to the heads and one back to the tokens. Then "
            "turn every arrow round."
        ),
        (
            "gradients needs dout in the form of q: all tokens of this rank's heads. Which of the "
            "two exchanges makes that?"
        ),
        (
            "One to_heads for dout, one call of gradients, and to_tokens for each of the three "
            "that it gives. Nothing is added up between ranks."
        ),
    ),
    mistakes=(
        Mistake("keeps_its_heads", "wrong-result", "not-brought-back"),
        Mistake("forgets_causal", "wrong-result", "ignores-causal"),
        Mistake("masks_always", "wrong-result", "always-causal"),
        Mistake("keys_first", "wrong-result", "other-order"),
        Mistake("keys_and_values_alone", "wrong-result", "not-three"),
        Mistake("averages_over_ranks", "wrong-result", "averaged"),
        Mistake("views_tokens_as_heads", "wrong-result", "heads-scrambled"),
        Mistake("sums_over_all_ranks", "over-budget", "everything-to-all"),
        Mistake("sends_twice", "over-budget", "too-many-bytes"),
        Mistake("scales_dout_in_place", "input-changed", "input-changed"),
    ),
    source=(
        "Jacobs and others 2023, DeepSpeed Ulysses, arXiv 2309.14509; DeepSpeed, "
        "deepspeed/sequence/layer.py, _SeqAllToAll"
    ),
)

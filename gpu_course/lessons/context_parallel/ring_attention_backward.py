"""Puzzle `ring_attention_backward`: gradients that travel with their block and come home."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.context_parallel.pieces import (
    BY_CHANCE,
    KINDS,
    TOLERANCE,
    attention,
    case,
    dealt,
    drawn_tensors,
    gradients,
    places_of,
    token_bytes,
)
from gpu_course.lessons.context_parallel.ring_attention import gathered
from gpu_course.puzzle.on_ranks import (
    by_hand,
    ranks_of,
    round_the_ring,
    sends,
    standstill,
    within_bytes,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values

_ZIGZAG, _STRIPED = KINDS.index("zigzag"), KINDS.index("striped")


def _random_case(rng: np.random.Generator) -> Case:
    ranks = int(rng.choice([2, 3]))
    length = ranks * int(rng.integers(3, 8)) + int(rng.integers(1, ranks))
    layout = int(rng.integers(0, len(KINDS)))
    return case(ranks, length, "sizes drawn at random", layout=layout)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    whole, places = drawn_tensors(rng, case, ("q", "k", "v", "dout")), places_of(case)
    causal = bool(case.sizes["causal"])
    out, lse = attention(whole["q"], whole["k"], whole["v"], causal)
    whole |= {"out": out, "lse": lse}
    return {
        "function": "ring_attention_backward",
        "measured": False,
        **{name: dealt(value, places) for name, value in whole.items()},
        "places": places,
        "causal": causal,
    }


def _reference(inputs: Values, case: Case) -> Values:
    q, k, v, dout = (gathered(inputs, name) for name in ("q", "k", "v", "dout"))
    found = gradients(q, k, v, dout, inputs["causal"])
    return {"result": tuple(tuple(each[:, own] for each in found) for own in inputs["places"])}


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    ranks, wire = ranks_of(case), got["wire"]
    tokens = [len(own) for own in inputs["places"]]
    total = sum(tokens)
    # Keys and values stop before their own rank; what is found of them need not pass it twice.
    allowed = [
        token_bytes(case, 2) * (2 * total - tokens[(rank + 1) % ranks] - tokens[rank])
        for rank in range(ranks)
    ]
    found = by_hand(wire) or within_bytes(wire, allowed)
    if found is not None and found.key == "too-many-bytes":
        return Judgement("full-circle", found.fact, found.reason, found.line)
    return found or round_the_ring(wire, ranks)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if "failed" in got:
        return _stuck(got, ranks_of(case))
    threes = (isinstance(each, tuple | list) and len(each) == 3 for each in got["result"])
    return None if all(threes) else "not-three"


def _stuck(got: Values, ranks: int) -> str | None:
    """The key of a standstill in which some ranks have sent less than others."""
    counts = {len(sends(got["wire"], rank)) for rank in range(ranks)}
    if got.get("failed") == "standstill" and len(counts) > 1:
        return "some-do-not-send"
    return standstill(got)


def _call(inputs: Values) -> str:
    held = ", ".join(str(len(own)) for own in inputs["places"])
    return f"ring_attention_backward(..., {inputs['causal']}), tokens {held}"


RING_ATTENTION_BACKWARD = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.puzzle.harness.on_rank",
    ranks=ranks_of,
    torch=True,
    cases=(
        case(3, 6, "visible example", visible=True),
        case(3, 8),
        case(3, 7, causal=0),
        case(3, 12, layout=_STRIPED),
        case(3, 14, layout=_ZIGZAG),
        # The last rank has no token.
        case(3, 2),
        # So long that what is sent beside the calls would show.
        case(3, 300, width=16),
        case(2, 9, layout=BY_CHANCE),
        case(1, 4),
        case(4, 13),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=TOLERANCE,
    judge=_judge,
    diagnose=_diagnose,
    call=_call,
)

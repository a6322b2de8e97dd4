"""Puzzle `ring_attention`: exact attention, keys and values going round a ring."""

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
    places_of,
    token_bytes,
)
from gpu_course.puzzle.on_ranks import (
    by_hand,
    ranks_of,
    round_the_ring,
    standstill,
    within_bytes,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values

HELD_BLOCKS = 14
"""The most blocks of the size of q that a rank may hold beside what it was given."""

_ZIGZAG, _STRIPED = KINDS.index("zigzag"), KINDS.index("striped")


def _random_case(rng: np.random.Generator) -> Case:
    ranks = int(rng.choice([2, 3]))
    length = ranks * int(rng.integers(3, 9)) + int(rng.integers(1, ranks))
    layout = int(rng.integers(0, len(KINDS)))
    return case(ranks, length, "sizes drawn at random", layout=layout)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    whole, places = drawn_tensors(rng, case, "qkv"), places_of(case)
    return {
        "function": "ring_attention",
        "measured": bool(case.sizes["measured"]),
        **{name: dealt(value, places) for name, value in whole.items()},
        "places": places,
        "causal": bool(case.sizes["causal"]),
    }


def gathered(inputs: Values, name: str) -> np.ndarray:
    """Returns an input of all ranks in the order of the sequence."""
    parts, places = inputs[name].parts, inputs["places"]
    whole = np.empty((parts[0].shape[0], sum(map(len, places)), *parts[0].shape[2:]))
    for part, own in zip(parts, places, strict=True):
        whole[:, own] = part
    return whole


def _reference(inputs: Values, case: Case) -> Values:
    q, k, v = (gathered(inputs, name) for name in "qkv")
    out, lse = attention(q, k, v, inputs["causal"])
    return {"result": tuple((out[:, own], lse[:, own]) for own in inputs["places"])}


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    ranks, wire = ranks_of(case), got["wire"]
    tokens = [len(own) for own in inputs["places"]]
    # The right neighbour's own block is the only one that it has already.
    allowed = [
        token_bytes(case, 2) * (sum(tokens) - tokens[(rank + 1) % ranks]) for rank in range(ranks)
    ]
    found = by_hand(wire) or within_bytes(wire, allowed) or round_the_ring(wire, ranks)
    if found or not inputs["measured"]:
        return found
    for rank, peak in enumerate(got["peak_bytes"]):
        block = token_bytes(case) * tokens[rank]
        if peak > HELD_BLOCKS * block:
            fact = f"rank {rank} holds {peak / block:.1f} blocks at a time; {HELD_BLOCKS} will do"
            return Judgement("too-much-memory", fact, "over-budget")
    return None


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if got.get("failed") == "sizes-differ":
        return "size-of-another"
    if "failed" in got:
        return standstill(got)
    if any(not isinstance(each, tuple | list) or len(each) != 2 for each in got["result"]):
        return "not-a-pair"
    if any(np.isnan(np.asarray(each[0], dtype=float)).any() for each in got["result"]):
        return "overflow" if case.sizes["large"] else "sees-nothing"
    return None


def _call(inputs: Values) -> str:
    held = ", ".join(str(len(own)) for own in inputs["places"])
    return f"ring_attention(q, k, v, places, {inputs['causal']}), tokens {held}"


RING_ATTENTION = PythonPuzzle(
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
        case(3, 9, "3 ranks, scores in the hundreds", large=1),
        # The last rank has no token.
        case(3, 2),
        # So long that what is sent beside the calls would show.
        case(3, 450, width=16),
        case(2, 9, layout=BY_CHANCE),
        case(1, 4),
        case(8, 128, "8 ranks, memory is counted", heads=1, width=64, measured=1),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=TOLERANCE,
    judge=_judge,
    diagnose=_diagnose,
    call=_call,
    self_check="the memory that a rank holds at one time",
)

"""Puzzle `ring_attention`: exact attention, keys and values going round a ring."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpu_course.lessons.context_parallel.pieces import (
    KINDS,
    TOLERANCE,
    attention,
    case,
    dealt,
    drawn,
    near,
    places_of,
    token_bytes,
)
from gpu_course.lessons.context_parallel.sequence_layouts import Places
from gpu_course.puzzle.digits import to_seven_digits
from gpu_course.puzzle.on_ranks import (
    by_hand,
    ranks_of,
    round_the_ring,
    sends,
    standstill,
    within_bytes,
)
from gpu_course.puzzle.room import told
from gpu_course.puzzle.specification import Case, Finding, PythonPuzzle, Values

HELD_BLOCKS = 14
"""The most blocks of the size of q that a rank may hold beside what it was given."""

_ZIGZAG, _STRIPED = KINDS.index("zigzag"), KINDS.index("striped")


def _random_case(rng: np.random.Generator) -> Case:
    ranks = int(rng.choice([2, 3]))
    length = ranks * int(rng.integers(3, 9)) + int(rng.integers(1, ranks))
    layout = int(rng.integers(0, len(KINDS)))
    return case(ranks, length, "sizes drawn at random", layout=layout)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    whole, places = drawn(rng, case, "qkv"), places_of(case)
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


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
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
            return Finding("too-much-memory", fact, "over-budget")
    return None


Seen = Callable[[int, int, int], np.ndarray]
"""(rank, step, owner of the block) -> which query sees which key."""


def _rounds(inputs: Values, seen: Seen, rounds: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Returns (out, lse) of each rank after so many rounds, under a mask of one's own."""
    places: Places = inputs["places"]
    ranks, found = len(places), []
    for rank in range(ranks):
        q = inputs["q"].parts[rank]
        owners = [(rank - step) % ranks for step in range(rounds)]
        k, v = (np.concatenate([inputs[name].parts[o] for o in owners], axis=1) for name in "kv")
        sees = np.concatenate([seen(rank, step, o) for step, o in enumerate(owners)], axis=1)
        scores = np.einsum("hid,hjd->hij", q, k) / np.sqrt(q.shape[-1])
        scores = np.where(sees, scores, -np.inf)
        most = scores.max(axis=-1, keepdims=True, initial=-1e300)
        weights = np.exp(scores - most)
        sums = weights.sum(axis=-1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            out = np.einsum("hij,hjd->hid", weights, v) / sums
            found.append((np.nan_to_num(out), (most + np.log(sums))[..., 0]))
    return found


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    ranks, places, wire = ranks_of(case), inputs["places"], got["wire"]
    if got.get("failed") == "sizes-differ":
        return "size-of-another"
    if "failed" in got:
        return standstill(got)
    if to_seven_digits(expected, got):
        return "seven-digits"
    result = got["result"]
    if any(not isinstance(each, tuple | list) or len(each) != 2 for each in result):
        return "not-a-pair"
    outs = [np.asarray(each[0], dtype=float) for each in result]
    right = [each[0] for each in expected["result"]]
    if [each.shape for each in outs] != [each.shape for each in right]:
        return None
    if any(np.isnan(each).any() for each in outs):
        return "overflow" if case.sizes["large"] else "sees-nothing"
    if near(outs, right):
        return "lse-of-one-block"

    def causal(rank: int, step: int, owner: int) -> np.ndarray:
        sees = places[rank][:, None] >= places[owner][None, :]
        return sees if inputs["causal"] else np.ones_like(sees)

    def with_mask(seen: Seen, rounds: int = ranks) -> bool:
        return near(outs, [each for each, _ in _rounds(inputs, seen, rounds)])

    def as_if_plain(rank: int, step: int, owner: int) -> np.ndarray:
        sees = causal(rank, step, owner)
        return np.full_like(sees, owner < rank) if owner != rank else np.tril(np.ones_like(sees))

    def other_way(rank: int, step: int, owner: int) -> np.ndarray:
        other = places[(rank + step) % ranks]
        if len(other) != len(places[owner]):
            return causal(rank, step, owner)
        return places[rank][:, None] >= other[None, :]

    if ranks == 1:
        return "ignores-causal" if with_mask(lambda *w: np.ones_like(causal(*w))) else None
    if not any(sends(wire, rank) for rank in range(ranks)) and with_mask(causal, 1):
        return "own-block-alone"
    for key, seen in (
        ("ignores-causal", lambda *where: np.ones_like(causal(*where))),
        ("always-causal", lambda r, s, o: places[r][:, None] >= places[o][None, :]),
        ("mask-of-one-block", lambda *where: np.tril(np.ones_like(causal(*where)))),
        ("mask-of-one-block", as_if_plain),
        ("sees-not-itself", lambda r, s, o: places[r][:, None] > places[o][None, :]),
        ("owner-turned", other_way),
    ):
        if with_mask(seen):
            return key
    if ranks > 1 and with_mask(causal, ranks - 1):
        return "one-round-too-few"
    return _merged_otherwise(inputs, outs, causal)


def _merged_otherwise(inputs: Values, outs: list[np.ndarray], seen: Seen) -> str | None:
    """The key of blocks that are right and put together in a wrong way."""
    ranks = len(inputs["places"])
    totals, counted = [], []
    for rank in range(ranks):
        total = np.zeros_like(outs[rank])
        for step in range(ranks):
            owner = (rank - step) % ranks
            q, k, v = (inputs[n].parts[o] for n, o in zip("qkv", (rank, owner, owner), strict=True))
            scores = np.einsum("hid,hjd->hij", q, k) / np.sqrt(q.shape[-1])
            weights = np.where(seen(rank, step, owner), np.exp(np.minimum(scores, 700.0)), 0.0)
            sums = weights.sum(axis=-1, keepdims=True)
            with np.errstate(invalid="ignore"):
                total += np.nan_to_num(np.einsum("hij,hjd->hid", weights, v) / sums)
        totals.append(total)
        counted.append(total / ranks)
    return "added" if near(outs, totals) else "averaged" if near(outs, counted) else None


def _call(inputs: Values) -> str:
    held = ", ".join(str(len(own)) for own in inputs["places"])
    return f"ring_attention(q, k, v, places, {inputs['causal']}), tokens {held}"


RING_ATTENTION = PythonPuzzle(
    **told(__file__),
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
        case(2, 5),
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

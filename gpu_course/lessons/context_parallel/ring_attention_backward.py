"""Puzzle `ring_attention_backward`: gradients that travel with their block and come home."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.lessons.context_parallel.pieces import (
    KINDS,
    TOLERANCE,
    attention,
    case,
    dealt,
    drawn,
    gradients,
    near,
    places_of,
    token_bytes,
)
from gpu_course.lessons.context_parallel.ring_attention import gathered
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

_ZIGZAG, _STRIPED = KINDS.index("zigzag"), KINDS.index("striped")

Triple = tuple[np.ndarray, np.ndarray, np.ndarray]


def _random_case(rng: np.random.Generator) -> Case:
    ranks = int(rng.choice([2, 3]))
    length = ranks * int(rng.integers(3, 8)) + int(rng.integers(1, ranks))
    layout = int(rng.integers(0, len(KINDS)))
    return case(ranks, length, "sizes drawn at random", layout=layout)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    whole, places = drawn(rng, case, ("q", "k", "v", "dout")), places_of(case)
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


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
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
        return Finding("full-circle", found.fact, found.reason, found.line)
    return found or round_the_ring(wire, ranks)


def _share(inputs: Values, rank: int, owner: int, own_lse: bool = False) -> Triple:
    """What the queries of a rank find for (dq of their own, dk and dv of a block)."""
    q, dout, out, lse = (inputs[name].parts[rank] for name in ("q", "dout", "out", "lse"))
    k, v = (inputs[name].parts[owner] for name in "kv")
    places, scale = inputs["places"], 1 / np.sqrt(q.shape[-1])
    sees = places[rank][:, None] >= places[owner][None, :]
    scores = np.einsum("hid,hjd->hij", q, k) * scale
    if inputs["causal"]:
        scores = np.where(sees, scores, -np.inf)
    if own_lse and scores.shape[-1]:
        lse = np.logaddexp.reduce(scores, axis=-1)
    with np.errstate(invalid="ignore"):
        weights = np.nan_to_num(np.exp(scores - lse[..., None]))
    slope = np.einsum("hid,hjd->hij", dout, v) - (dout * out).sum(axis=-1, keepdims=True)
    slope = weights * slope * scale
    return (
        np.einsum("hij,hjd->hid", slope, k),
        np.einsum("hij,hid->hjd", slope, q),
        np.einsum("hij,hid->hjd", weights, dout),
    )


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if "failed" in got:
        return _stuck(got, ranks_of(case))
    if to_seven_digits(expected, got):
        return "seven-digits"
    ranks, result, right = ranks_of(case), got["result"], expected["result"]
    if any(not isinstance(each, tuple | list) or len(each) != 3 for each in result):
        return "not-three"
    found = [tuple(np.asarray(each, dtype=float) for each in row) for row in result]
    if near(found, [(dk, dv, dq) for dq, dk, dv in right]):
        return "other-order"
    if any(f.shape != r.shape for row, other in zip(found, right, strict=True)
           for f, r in zip(row, other, strict=True)):  # fmt: skip
        return "gradients-away" if ranks > 1 else None
    shares = [[_share(inputs, rank, owner) for owner in range(ranks)] for rank in range(ranks)]
    queries = [row[0] for row in found]
    blocks: list[Any] = [row[1:] for row in found]
    if near(blocks, [row[1:] for row in right]):
        return _of_queries(inputs, queries, shares)
    if near(blocks, [shares[r][r][1:] for r in range(ranks)]):
        alone = not any(sends(got["wire"], rank) for rank in range(ranks))
        return "own-block-alone" if alone else "shares-kept"
    for turn in (1, -1):
        if near(blocks, [right[(r + turn) % ranks][1:] for r in range(ranks)]):
            return "gradients-away"

    def summed(owner: int, ranks_: list[int]) -> Any:
        found = [shares[rank][owner][1:] for rank in ranks_]
        return tuple(np.sum([each[k] for each in found], axis=0) for k in (0, 1))

    every = list(range(ranks))
    if near(blocks, [summed(r, [*every, r]) for r in every]):
        return "own-share-twice"
    if ranks > 1 and near(blocks, [summed(r, [e for e in every if e != r]) for r in every]):
        return "own-share-missing"
    if ranks > 2 and near(blocks, [summed(r, [r, (r - 1) % ranks]) for r in every]):
        return "last-share-alone"
    here = [
        tuple(np.sum([shares[r][o][k] for o in every], axis=0) for k in (1, 2)) for r in every
    ] if len({len(own) for own in inputs["places"]}) == 1 else None  # fmt: skip
    if here is not None and near(blocks, here):
        return "added-up-here"
    own_lse = [[_share(inputs, r, o, own_lse=True) for o in every] for r in every]
    if near(queries, [np.sum([own_lse[r][o][0] for o in every], axis=0) for r in every]):
        return "lse-of-the-block"
    return None


def _of_queries(
    inputs: Values, queries: list[np.ndarray], shares: list[list[Triple]]
) -> str | None:
    ranks = range(len(shares))
    if near(queries, [shares[r][r][0] for r in ranks]):
        return "dq-of-own-block"
    return None


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
        # The last rank has no token.
        case(3, 2),
        # So long that what is sent beside the calls would show.
        case(3, 300, width=16),
        case(2, 5),
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

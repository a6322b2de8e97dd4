"""Puzzle `ring_attention_backward`: gradients that travel with their block and come home."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.lessons.collectives.pieces import (
    by_hand,
    round_the_ring,
    sends,
    standstill,
    within_bytes,
)
from gpu_course.lessons.context_parallel.pieces import (
    DIAGNOSES,
    KINDS,
    TOLERANCE,
    attention,
    case,
    dealt,
    drawn,
    gradients,
    near,
    places_of,
    ranks_of,
    token_bytes,
)
from gpu_course.lessons.context_parallel.ring_attention import gathered
from gpu_course.puzzle.digits import to_seven_digits
from gpu_course.puzzle.specification import Case, Debrief, Finding, Mistake, PythonPuzzle, Values

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


DEBRIEF = Debrief(
    shows=("bytes_sent", "messages"),
    why=(
        "dq is the business of the rank that has the queries. What is found for a block is added "
        "to what travels with it, and after n - 1 hops the sum is at the rank of the block, which "
        "adds its own share last."
    ),
    alternative=(
        "Two rings at once: dk and dv of the last block can be on their way while the next block "
        "is worked on. It hides the time of these messages, and takes two tensors more."
    ),
)

RING_ATTENTION_BACKWARD = PythonPuzzle(
    name="25_context_parallel/ring_attention_backward",
    title="gradients come home",
    difficulty="hard",
    minutes=30,
    debrief=DEBRIEF,
    statement=(
        "Let blocks of keys and values go round once more, with their gradients, so that each "
        "rank ends with the exact dq, dk and dv of its own tokens."
    ),
    parameters={
        "ring_attention_backward": ("dout", "q", "k", "v", "out", "lse", "places", "causal")
    },
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
    diagnoses={
        **{key: text for key, text in DIAGNOSES.items() if key != "too-many-bytes"},
        "not-three": "Return three tensors: dq, dk and dv.",
        "other-order": "The gradients are right in another order. Asked for is dq, dk, dv.",
        "gradients-away": (
            "dk and dv are those of another rank's block. Whose block does a rank hold after n - 1 "
            "hops, and how many more does it take home?"
        ),
        "own-block-alone": (
            "Each rank has the gradients of its own block alone, and nothing was sent. Queries of "
            "other ranks have looked at it too."
        ),
        "shares-kept": (
            "dk and dv hold what this rank's own queries found. The other ranks found something "
            "for this block as well: it has to travel."
        ),
        "own-share-twice": (
            "This rank's share of its own dk and dv is counted twice. Does it travel, or does it "
            "wait at home?"
        ),
        "own-share-missing": (
            "dk and dv hold what the other ranks found. What this rank's own queries found for its "
            "own block belongs to them too."
        ),
        "last-share-alone": (
            "Of the others' shares the last one alone came home. What arrives with a block has to "
            "be added to what is found for it here."
        ),
        "added-up-here": (
            "All that this rank found is in its dk and dv, whichever block it was found for. "
            "Gradients belong to their block."
        ),
        "lse-of-the-block": (
            "The weights are those of each block by itself. Over the whole sequence they are "
            "smaller: lse has that, from the forward pass."
        ),
        "dq-of-own-block": (
            "dk and dv are right, and dq is that of a rank's own block. Every block adds to it."
        ),
        "some-do-not-send": (
            "Some ranks send less than others, and those wait for them. Whether a query sees a key "
            "of a block is one thing; its neighbour waits for a message in any case."
        ),
        "full-circle": (
            "The result is right, and some gradients make a hop too many. What a rank finds for "
            "its own block could wait at home: where would the journey begin then?"
        ),
    },
    hints=(
        (
            "Follow the block of rank 0 on three ranks. Who finds a share of its dk, in which "
            "order, and who is its right neighbour?"
        ),
        (
            "k and v make n - 1 hops. From the second block on, what the left neighbour found for "
            "the same block arrives too: add your share and hand it on with the next swap."
        ),
        (
            "Keep what you find for your own block. In round t = 1 the journey of dk and dv begins "
            "with your share for the block of rank r - 1. After the last round one more swap "
            "brings home what belongs to you."
        ),
    ),
    equivalent_mutants={
        "ring_attention_backward:operand-dropped:owner = r - step": (
            "It is never below -n, and from there on Python counts places from the end."
        ),
    },
    mistakes=(
        Mistake("looks_at_its_own", "wrong-result", "own-block-alone"),
        Mistake("keeps_what_it_finds", "wrong-result", "shares-kept"),
        Mistake("adds_all_to_its_own", "wrong-result", "added-up-here"),
        Mistake("does_not_bring_home", "wrong-result", "gradients-away"),
        Mistake("counts_its_own_twice", "wrong-result", "own-share-twice"),
        Mistake("forgets_its_own", "wrong-result", "own-share-missing"),
        Mistake("does_not_add_on_the_way", "wrong-result", "last-share-alone"),
        Mistake("dq_of_the_first_block", "wrong-result", "dq-of-own-block"),
        Mistake("weights_of_each_block", "wrong-result", "lse-of-the-block"),
        Mistake("keys_first", "wrong-result", "other-order"),
        Mistake("keys_and_values_alone", "wrong-result", "not-three"),
        Mistake("sends_what_is_seen", "hazard", "some-do-not-send"),
        Mistake("adds_into_k", "input-changed", "input-changed"),
        Mistake("starts_at_home", "over-budget", "full-circle"),
        Mistake("straight_to_its_rank", "over-budget", "not-a-ring"),
        Mistake("asks_the_library", "refused", "library-collective"),
    ),
    source=(
        "Liu, Zaharia and Abbeel 2023, Ring Attention with Blockwise Transformers for "
        "Near-Infinite Context; Dao and others 2022, FlashAttention, appendix B"
    ),
)

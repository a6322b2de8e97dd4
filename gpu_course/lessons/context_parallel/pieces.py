"""What the puzzles on attention share: inputs, a plain attention to hold them to, and words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from gpu_course.lessons.context_parallel.sequence_layouts import LAYOUTS, Places
from gpu_course.puzzle.on_ranks import FLOAT64_BYTES, ranks_of
from gpu_course.puzzle.specification import Case, Judgement, PerRank
from gpu_course.ranks.calls import Call
from gpu_course.ranks.traffic import booked_bytes
from simt.text import count

TOLERANCE = (1e-9, 1e-11)
KINDS = tuple(LAYOUTS)
BY_CHANCE = len(KINDS)
"""A layout of no rule, in which no rank has its tokens in order."""
NAMES = (*KINDS, "dealt out by chance")

SIZES = {"heads": 2, "width": 4, "layout": 0, "causal": 1, "large": 0, "measured": 0}
"""Of a case that says nothing else."""


def case(ranks: int, length: int, name: str = "", visible: bool = False, **more: int) -> Case:
    """Returns a case of so many ranks and tokens.

    Args:
        ranks, length: of ranks, of tokens together.
        name: of the case; made of its sizes where it has none.
        visible: True for the example.
        more: what is not as SIZES has it; layout is a place in NAMES.
    """
    sizes = {"ranks": ranks, "length": length, **SIZES, **more}
    how = f", {NAMES[sizes['layout']]}" if sizes["layout"] else ""
    looks = "" if sizes["causal"] else ", not causal"
    words = name or f"{count(ranks, 'rank')}, {count(length, 'token')}{how}{looks}"
    return Case(words, sizes, visible)


def places_of(case: Case) -> Places:
    """Returns which tokens each rank of a case holds."""
    if case.sizes["layout"] == BY_CHANCE:
        length = case.sizes["length"]
        order = np.random.default_rng(length).permutation(length)
        return tuple(np.array_split(order, ranks_of(case)))
    return LAYOUTS[KINDS[case.sizes["layout"]]](case.sizes["length"], ranks_of(case))


def dealt(whole: np.ndarray, places: Places) -> PerRank:
    """Returns for each rank its tokens of (heads, tokens, ...)."""
    return PerRank(tuple(np.ascontiguousarray(whole[:, own]) for own in places))


def drawn_tensors(
    rng: np.random.Generator, case: Case, names: Sequence[str]
) -> dict[str, np.ndarray]:
    """Returns tensors (heads, tokens, width) of a whole sequence, by name.

    With `large` the scores go to hundreds, where exp has no float64 for them.
    """
    shape = (case.sizes["heads"], case.sizes["length"], case.sizes["width"])
    found = {name: rng.normal(size=shape) for name in names}
    if case.sizes["large"]:
        found[names[0]] *= 600.0
    return found


def attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Returns (out, lse) of attention in one place, (heads, tokens, width) and (heads, tokens)."""
    scores = np.einsum("hid,hjd->hij", q, k) / np.sqrt(q.shape[-1])
    if causal:
        later = np.triu(np.ones(scores.shape[-2:], bool), 1)
        scores = np.where(later, -np.inf, scores)
    most = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - most)
    sums = weights.sum(axis=-1, keepdims=True)
    out = np.einsum("hij,hjd->hid", weights / sums, v)
    return out, (most + np.log(sums))[..., 0]


def gradients(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, dout: np.ndarray, causal: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns (dq, dk, dv) of attention in one place."""
    scale = 1 / np.sqrt(q.shape[-1])
    scores = np.einsum("hid,hjd->hij", q, k) * scale
    if causal:
        scores = np.where(np.triu(np.ones(scores.shape[-2:], bool), 1), -np.inf, scores)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    dv = np.einsum("hij,hid->hjd", weights, dout)
    dweights = np.einsum("hid,hjd->hij", dout, v)
    dscores = weights * (dweights - (weights * dweights).sum(axis=-1, keepdims=True))
    dq = np.einsum("hij,hjd->hid", dscores, k) * scale
    return dq, np.einsum("hij,hid->hjd", dscores, q) * scale, dv


def token_bytes(case: Case, tensors: int = 1) -> int:
    """Returns the bytes of one token in so many tensors."""
    return FLOAT64_BYTES * case.sizes["heads"] * case.sizes["width"] * tensors


def near(got: Any, expected: Any) -> bool:
    """Whether two nested sequences of arrays agree within the tolerance."""
    if isinstance(expected, tuple | list):
        return (
            isinstance(got, tuple | list)
            and len(got) == len(expected)
            and all(near(g, e) for g, e in zip(got, expected, strict=True))
        )
    if np.shape(got) != np.shape(expected):
        return False
    rtol, atol = TOLERANCE
    return bool(np.allclose(got, expected, rtol=rtol, atol=atol))


def within_booked(
    wire: Sequence[Call], allowed: Sequence[Fraction], key: Callable[[Sequence[Call]], str]
) -> Judgement | None:
    """Returns what is wrong where a rank's sends and collectives are booked at more than allowed.

    Args:
        wire: the calls of all ranks.
        allowed: bytes, for each rank.
        key: of the finding, from the calls of the rank that sends too much.
    """
    for rank, most in enumerate(allowed):
        own = [call for call in wire if call.rank == rank and call.kind != "recv"]
        sent = booked_bytes(own)
        if sent > most:
            largest = max(own, key=lambda call: call.booked_bytes)
            fact = f"rank {rank} sends {float(sent):,.0f} bytes; {float(most):,.0f} will do"
            return Judgement(key(own), fact, "over-budget", largest.line)
    return None

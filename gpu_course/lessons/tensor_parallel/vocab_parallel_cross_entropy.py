"""Puzzle `vocab_parallel_cross_entropy`: the loss from parts of the logits that never meet."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.lessons.tensor_parallel.pieces import (
    FLOAT64_BYTES,
    alike,
    all_reduce_bytes,
    cut,
    ranks_of,
    sent,
)
from gpu_course.puzzle.digits import to_seven_digits
from gpu_course.puzzle.room import told
from gpu_course.puzzle.specification import (
    Case,
    Finding,
    PerRank,
    PythonPuzzle,
    Values,
)
from simt.text import count

PLAIN, FAR_APART, RULED_OUT = range(3)
"""What logits a case has: near each other; in the thousands and far apart; some of them -inf."""


def _case(
    ranks: int,
    tokens: int,
    vocabulary: int,
    kind: int = PLAIN,
    name: str = "",
    visible: bool = False,
) -> Case:
    words = name or f"{count(ranks, 'rank')}, {tokens} tokens, {vocabulary} entries"
    sizes = {"ranks": ranks, "tokens": tokens, "vocabulary": vocabulary, "kind": kind}
    return Case(words, sizes, visible)


_CASES = (
    _case(2, 3, 6, name="visible example", visible=True),
    _case(2, 5, 7),
    _case(2, 6, 9, FAR_APART, "logits in the thousands, far apart"),
    _case(1, 3, 5),
    _case(3, 8, 10, RULED_OUT, "entries that are ruled out"),
    # So much that what is sent beside the calls would show.
    _case(3, 3000, 12),
    _case(4, 6, 13),
)


def _random_case(rng: np.random.Generator) -> Case:
    tokens, vocabulary = int(rng.integers(5, 10)), int(rng.integers(9, 30))
    ranks = int(rng.choice([2, 4]))
    return _case(ranks, tokens, vocabulary, PLAIN, "a vocabulary drawn at random")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    ranks, tokens = ranks_of(case), case.sizes["tokens"]
    vocabulary, kind = case.sizes["vocabulary"], case.sizes["kind"]
    logits = np.round(rng.normal(0, 1, (tokens, vocabulary)), 4)
    # Every token has its own level, so that no rank's largest is the largest of all by accident.
    logits += 4 * np.round(rng.normal(0, 1, (tokens, 1)), 3)
    if kind == FAR_APART:
        # exp of what is left has a number only where the largest of all is taken off.
        logits += 800.0 * rng.permuted(np.tile(np.arange(vocabulary) + 3, (tokens, 1)), axis=1)
    targets = (rng.permutation(max(tokens, vocabulary)) % vocabulary)[:tokens]
    if kind == RULED_OUT:
        logits = _ruled_out(rng, logits, targets, ranks)
    parts = cut(logits, ranks, 1)
    firsts = np.cumsum([0, *(part.shape[1] for part in parts[:-1])])
    return {
        "logits": PerRank(parts),
        # Each rank has some target as soon as there are enough of them.
        "targets": targets,
        "first": PerRank(tuple(int(first) for first in firsts)),
    }


def _ruled_out(
    rng: np.random.Generator, logits: np.ndarray, targets: np.ndarray, ranks: int
) -> np.ndarray:
    """Returns logits, -inf in every third place, and for each token in all but one of a rank."""
    tokens, vocabulary = logits.shape
    gone = rng.permuted(np.tile(np.arange(vocabulary) % 3 == 0, (tokens, 1)), axis=1)
    whole = np.array_split(np.arange(vocabulary), ranks)
    for token, target in enumerate(targets):
        gone[token, whole[token % ranks]] = True
        gone[token, target] = False
    return np.where(gone, -np.inf, logits)


def _whole(inputs: Values) -> tuple[np.ndarray, np.ndarray]:
    """Returns (loss, dlogits) of one rank that has all logits."""
    import torch
    from torch.nn import functional

    logits = torch.tensor(np.concatenate(inputs["logits"].parts, 1), requires_grad=True)
    loss = functional.cross_entropy(logits, torch.from_numpy(inputs["targets"]), reduction="none")
    loss.sum().backward()
    assert logits.grad is not None
    return loss.detach().numpy(), logits.grad.numpy()


def _reference(inputs: Values, case: Case) -> Values:
    ranks = ranks_of(case)
    loss, dlogits = _whole(inputs)
    return {"result": tuple((loss, part) for part in cut(dlogits, ranks, 1))}


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
    ranks, tokens = ranks_of(case), case.sizes["tokens"]
    most = 3 * all_reduce_bytes(tokens, ranks)
    # Where all hand all to all, no all-reduce is needed: as many bytes for two ranks, more for all.
    most = max(most, 3 * tokens * FLOAT64_BYTES * (ranks - 1) if ranks < 3 else 0)
    for rank in range(ranks):
        own = [call for call in got["wire"] if call.rank == rank]
        if sent(own) > most:
            largest = max(own, key=lambda call: call.booked_bytes)
            whole = largest.payload_bytes >= tokens * FLOAT64_BYTES * 2
            key = "logits-sent" if whole else "too-many-bytes"
            fact = f"rank {rank} sends {float(sent(own)):,.0f} bytes; {most:,} will do"
            return Finding(key, fact, "over-budget", largest.line)
    return None


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    ranks, targets = ranks_of(case), inputs["targets"]
    if "failed" in got:
        return None
    if to_seven_digits(expected, got):
        return "seven-digits"
    loss = [each[0] for each in got["result"]]
    dlogits = [each[1] for each in got["result"]]
    right, parts = expected["result"][0][0], inputs["logits"].parts
    whole = np.concatenate(parts, 1)
    if not all(np.isfinite(each).all() for each in loss):
        return "no-maximum"
    at = whole[np.arange(len(targets)), targets]
    firsts = inputs["first"].parts
    top = whole.max(1)
    # A part in which all is ruled out has no maximum of its own to take off.
    tops = [np.where(np.isneginf(m), 0.0, m) for m in (part.max(1) for part in parts)]
    if alike(loss, [right] * ranks):
        times = [np.exp(top - t)[:, None] for t in tops]
        return _of_gradient(expected, dlogits, targets, firsts, times)
    sums = [np.exp(p - t[:, None]).sum(1) for p, t in zip(parts, tops, strict=True)]
    of_all = [np.exp(p - top[:, None]).sum(1) for p in parts]
    with np.errstate(divide="ignore"):
        alone = [
            [np.log(s) + t - at for s, t in zip(sums, tops, strict=True)],
            [np.log(s) + top - at for s in of_all],
        ]
    if ranks > 1 and any(alike(loss, each) for each in alone):
        return "own-sum"
    if ranks > 1 and alike(loss, [np.log(sum(sums)) + t - at for t in tops]):
        return "different-maxima"
    if alike(loss, [np.log(sum(sums)) + top - at] * ranks):
        return "different-maxima"
    if ranks > 1 and alike(loss, [right - top + t for t in tops]):
        return "own-maximum-back"
    if alike(loss, [right - top] * ranks):
        return "maximum-left-out"
    if ranks > 1 and alike(
        loss, [right + at - _seen(p, targets, f) for p, f in zip(parts, firsts, strict=True)]
    ):
        return "target-of-another-rank"
    wrapped = sum(
        p[np.arange(len(targets)), (targets - f) % p.shape[1]]
        for p, f in zip(parts, firsts, strict=True)
    )
    clamped = sum(
        p[np.arange(len(targets)), np.clip(targets - f, 0, p.shape[1] - 1)]
        for p, f in zip(parts, firsts, strict=True)
    )
    if ranks > 1 and any(alike(loss, [right + at - each] * ranks) for each in (wrapped, clamped)):
        return "everybodys-logit"
    return None


def _seen(part: np.ndarray, targets: np.ndarray, first: int) -> np.ndarray:
    """Returns the right logit of each token where this rank has it, 0 elsewhere."""
    place = targets - first
    mine = (place >= 0) & (place < part.shape[1])
    return np.where(mine, part[np.arange(len(place)), np.where(mine, place, 0)], 0.0)


def _of_gradient(
    expected: Values, got: Any, targets: np.ndarray, firsts: Any, times: list[np.ndarray]
) -> str | None:
    """The key of a wrong gradient beside a right loss.

    Args:
        expected, got, targets, firsts: of the case.
        times: by how much the exponentials of each rank grow where it takes its own maximum off.
    """
    right = [each[1] for each in expected["result"]]
    shares = []
    for part, first in zip(right, firsts, strict=True):
        place = targets - first
        mine = (place >= 0) & (place < part.shape[1])
        share = part.copy()
        share[np.flatnonzero(mine), place[mine]] += 1
        shares.append(share)
    if alike(got, shares):
        return "target-not-taken-off"
    own = [s * t - (s - r) for s, t, r in zip(shares, times, right, strict=True)]
    if len(right) > 1 and alike(got, own):
        return "slope-of-own-maximum"
    if alike(got, [each / len(targets) for each in right]):
        return "mean-over-tokens"
    if alike(
        got, [s / s.sum(1, keepdims=True) - (s - r) for s, r in zip(shares, right, strict=True)]
    ):
        return "own-softmax"
    return None


VOCAB_PARALLEL_CROSS_ENTROPY = PythonPuzzle(
    **told(__file__),
    ranks=ranks_of,
    torch=True,
    cases=_CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    diagnose=_diagnose,
    tolerance=(1e-9, 1e-11),
)

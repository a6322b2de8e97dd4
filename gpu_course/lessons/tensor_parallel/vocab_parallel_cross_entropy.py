"""Puzzle `vocab_parallel_cross_entropy`: the loss from parts of the logits that never meet."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.tensor_parallel.pieces import alike, all_reduce_bytes, cut
from gpu_course.puzzle.on_ranks import FLOAT64_BYTES, ranks_of
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Case,
    Judgement,
    PerRank,
    PythonPuzzle,
    Values,
)
from gpu_course.ranks.traffic import booked_bytes
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
        # And the largest of its own token: that of another one leaves nothing of it.
        logits += 2000.0 * (np.arange(tokens)[:, None] % 3)
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


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    ranks, tokens = ranks_of(case), case.sizes["tokens"]
    most = 3 * all_reduce_bytes(tokens, ranks)
    # Where all hand all to all, no all-reduce is needed: as many bytes for two ranks, more for all.
    most = max(most, 3 * tokens * FLOAT64_BYTES * (ranks - 1) if ranks < 3 else 0)
    for rank in range(ranks):
        own = [call for call in got["wire"] if call.rank == rank]
        if booked_bytes(own) > most:
            largest = max(own, key=lambda call: call.booked_bytes)
            whole = largest.payload_bytes >= tokens * FLOAT64_BYTES * 2
            key = "logits-sent" if whole else "too-many-bytes"
            fact = f"rank {rank} sends {float(booked_bytes(own)):,.0f} bytes; {most:,} will do"
            return Judgement(key, fact, "over-budget", largest.line)
    return None


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """Knows too large exponentials, and whose maximum was taken off, however it was done."""
    if "failed" in got:
        return None
    loss = [each[0] for each in got["result"]]
    if not all(np.isfinite(each).all() for each in loss):
        return "no-maximum"
    if ranks_of(case) == 1:
        return None
    parts = inputs["logits"].parts
    top = np.concatenate(parts, 1).max(1)
    # A part in which all is ruled out has no maximum of its own to take off.
    tops = [np.where(np.isneginf(m), 0.0, m) for m in (part.max(1) for part in parts)]
    right = expected["result"][0][0]
    if alike(loss, [right - top + own for own in tops]):
        return "own-maximum-back"
    slopes = []
    for part, first, own in zip(expected["result"], inputs["first"].parts, tops, strict=True):
        place = inputs["targets"] - first
        here = np.flatnonzero((place >= 0) & (place < part[1].shape[1]))
        softmax = part[1].copy()
        softmax[here, place[here]] += 1
        slopes.append(softmax * np.exp(top - own)[:, None] - (softmax - part[1]))
    gradients = [each[1] for each in got["result"]]
    return "slope-of-own-maximum" if alike(gradients, slopes) else None


VOCAB_PARALLEL_CROSS_ENTROPY = PythonPuzzle(
    **puzzle_fields(__file__),
    ranks=ranks_of,
    torch=True,
    cases=_CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    judge=_judge,
    tolerance=(1e-9, 1e-11),
)

"""What lesson 25 shows: who computes which scores, and runs of one's own ring."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.lessons.context_parallel.pictures import (
    draw_rounds,
    draw_triangle,
)
from gpu_course.lessons.context_parallel.sequence_layouts import LAYOUTS, Places, bound, work
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import telling
from gpu_course.notebook.own.ranks import run_own
from gpu_course.notebook.pictures import Picture
from gpu_course.ranks.runner import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOKENS_PER_RANK = 512
"""Enough that a diagonal counts for half of its block, nearly."""


def _layout(name: str, length: int, ranks: int) -> Places:
    if name not in LAYOUTS:
        raise CourseError(f"no layout is called {name!r}", f"try {', '.join(LAYOUTS)}")
    return LAYOUTS[name](length, ranks)


def triangle(ranks: int = 4, layout: str = "plain") -> Figure:
    """Returns a causal triangle whose rows have the colours of the ranks that compute them.

    Args:
        ranks: how many, at most 8.
        layout: "plain", "zigzag" or "striped".
    """
    pieces = (4 if ranks <= 4 else 2) * ranks
    owner = np.empty(pieces, np.int64)
    for rank, own in enumerate(_layout(layout, pieces, ranks)):
        owner[own] = rank
    scores = work(_layout(layout, TOKENS_PER_RANK * ranks, ranks))
    over_mean = scores.sum(axis=1) / scores.sum(axis=1).mean()
    return draw_triangle(owner.tolist(), over_mean.tolist(), bound(scores), layout)


def rounds(ranks: int = 4, layout: str = "plain") -> Figure:
    """Returns the rounds of a causal ring, by the count of scores.

    Args:
        ranks: how many, at most 8.
        layout: "plain", "zigzag" or "striped".
    """
    scores = work(_layout(layout, TOKENS_PER_RANK * ranks, ranks)) / TOKENS_PER_RANK**2
    holds = [[(rank - step) % ranks for step in range(ranks)] for rank in range(ranks)]
    return draw_rounds(scores.tolist(), holds, f"A causal ring of {ranks} ranks, {layout}")


def bounds(ranks: int = 8) -> str:
    """Returns a table: the share of the time in which ranks compute, for each layout.

    Args:
        ranks: how many.
    """
    lines = [f"{ranks} ranks, {TOKENS_PER_RANK * ranks:,} tokens, each round waits for its slowest"]
    for name in LAYOUTS:
        scores = work(_layout(name, TOKENS_PER_RANK * ranks, ranks))
        least, most = scores.sum(axis=1).min(), scores.sum(axis=1).max()
        lines.append(
            f"  {name:<8} {100 * bound(scores):>6.2f} %   "
            f"most work of a rank over least {most / least:>6.2f}"
        )
    return "\n".join(lines)


# Runs of the learner's own ring


def _lists(places: Sequence[np.ndarray]) -> list[list[int]]:
    return [own.tolist() for own in places]


def _unlike(layout: str, ranks: int) -> list[np.ndarray]:
    """Places such that no two ranks have as many: by its length it is known whose block it is."""
    whole = _layout(layout, TOKENS_PER_RANK * ranks, ranks)
    return [own[: len(own) - rank] for rank, own in enumerate(whole)]


def held_in_rounds(run: Run, tokens: Sequence[int], numbers_per_token: int) -> list[list[int]]:
    """Returns [rank][round] -> whose block the rank had, from the sizes of what it received.

    Args:
        run: of a ring attention.
        tokens: of each rank, no two alike.
        numbers_per_token: in one tensor.

    Raises:
        CourseError: a message fits the block of no rank.
    """
    owner_of = {numbers_per_token * many * times: rank
                for rank, many in enumerate(tokens) for times in (1, 2)}  # fmt: skip
    found: list[list[int]] = []
    for rank in range(len(tokens)):
        held = [rank]
        for call in run.calls:
            if call.rank != rank or call.kind != "recv":
                continue
            size = sum(call.sizes)
            if size not in owner_of:
                raise CourseError(
                    f"a message of {size} numbers is no block of keys or values",
                    "send k and v one by one, or both together",
                )
            if held[-1] != owner_of[size]:
                held.append(owner_of[size])
        found.append(held)
    return found


@asks_for_answers
@telling
def own_rounds(layout: str = "plain", ranks: int = 4) -> Picture:
    """Returns the rounds of your own ring_attention: whose keys came when, and who had to wait.

    It runs on real ranks. Which block a message was is known by its length: the ranks hold slightly
    different numbers of tokens. How long a round takes is counted in scores.

    Args:
        layout: "plain", "zigzag" or "striped".
        ranks: how many, at most 8.
    """
    from gpu_course.lessons.context_parallel import runs

    places = _unlike(layout, ranks)
    tokens, heads, width = [len(own) for own in places], 1, 2
    given = {"places": _lists(places), "heads": heads, "width": width}
    run = run_own("ring_attention", runs.ring, ranks, **given)
    held = held_in_rounds(run, tokens, heads * width)
    if any(len(row) != ranks for row in held):
        raise CourseError(
            "not every rank has seen every block", "solve the puzzle above, then come back"
        )
    full = (sum(tokens) / ranks) ** 2
    scores = [
        [_seen(places[rank], places[owner]) / full for owner in row]
        for rank, row in enumerate(held)
    ]
    return Picture(draw_rounds(scores, held, f"Your ring_attention on {ranks} ranks, {layout}"))


def _seen(queries: np.ndarray, keys: np.ndarray) -> int:
    return int((queries[:, None] >= keys[None, :]).sum())


@asks_for_answers
@telling
def own_exact(ranks: int = 4, tokens: int = 50) -> str:
    """Returns how your ring compares with PyTorch's attention in one process, in float64.

    Args:
        ranks: how many.
        tokens: of the sequence.
    """
    from gpu_course.lessons.context_parallel import runs

    lines = [f"your ring_attention on {ranks} ranks, {tokens} tokens, beside torch in one process"]
    for name in LAYOUTS:
        places = _lists(_layout(name, tokens, ranks))
        given = {"places": places, "heads": 2, "width": 8}
        run = run_own("ring_attention", runs.ring_beside_torch, ranks, **given)
        lines.append(f"  {name:<8} {_verdict(max(run.results))}")
    return "\n".join(lines)


def _verdict(off: float) -> str:
    return "the same to 12 digits" if off < 1e-12 else f"off by up to {off:.1e}"


@asks_for_answers
@telling
def own_step(ranks: int = 4, layout: str = "zigzag") -> str:
    """Returns how a training step with your ring compares with one in one process.

    The small GPT, one sequence over all ranks, attention by your `ring_attention` and your
    `ring_attention_backward`, all in float64.

    Args:
        ranks: how many.
        layout: how the sequence is dealt out.
    """
    from gpu_course.lessons.context_parallel import runs
    from gpu_course.lessons.context_parallel.context_model import SHAPE

    places = _lists(_layout(layout, SHAPE.sequence, ranks))
    both = ["ring_attention", "ring_attention_backward"]
    run = run_own(both, runs.training_step, ranks, places=places)
    loss, gradients = (max(each) for each in zip(*run.results, strict=True))
    lines = [
        f"a step of the small GPT, {SHAPE.sequence} tokens {layout} on {ranks} ranks",
        f"  loss:      {_verdict(loss)}",
        f"  gradients: {_verdict(gradients)}",
    ]
    return "\n".join(lines)

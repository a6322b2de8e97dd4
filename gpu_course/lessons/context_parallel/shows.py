"""What lesson 25 shows: who computes which scores, runs of one's own ring, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.lessons.context_parallel import sequence_costs as costs
from gpu_course.lessons.context_parallel.pictures import (
    draw_curves,
    draw_lengths,
    draw_rounds,
    draw_triangle,
)
from gpu_course.lessons.context_parallel.sequence_costs import Attention
from gpu_course.lessons.context_parallel.sequence_layouts import LAYOUTS, Places, bound, work
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import telling
from gpu_course.notebook.own_ranks import own_text, run_own
from gpu_course.notebook.pictures import Picture
from gpu_course.ranks.runner import Run
from gpu_course.units import format_bytes

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

_GIVEN = """

def course_given(places, heads, width):
    import torch as course_torch

    made = course_torch.Generator().manual_seed(0)
    length = 1 + max(int(own.max()) for own in places)
    return [
        course_torch.randn(heads, length, width, generator=made, dtype=course_torch.float64)
        for _ in range(4)
    ]
"""

_FORWARD = """

def course_main(places, heads, width):
    import torch as course_torch
    import torch.distributed as course_dist

    places = [course_torch.tensor(own) for own in places]
    own = places[course_dist.get_rank()]
    q, k, v, _ = (each[:, own].contiguous() for each in course_given(places, heads, width))
    ring_attention(q, k, v, places, True)
"""

_EXACT = """

def course_main(places, heads, width):
    import torch as course_torch
    import torch.distributed as course_dist
    from torch.nn.functional import scaled_dot_product_attention as course_sdpa

    places = [course_torch.tensor(own) for own in places]
    own = places[course_dist.get_rank()]
    q, k, v, _ = course_given(places, heads, width)
    whole = course_sdpa(q[None], k[None], v[None], is_causal=True)[0]
    mine = [each[:, own].contiguous() for each in (q, k, v)]
    out, _ = ring_attention(*mine, places, True)
    return (out - whole[:, own]).abs().max().item() if len(own) else 0.0
"""

_STEP = """

def course_main(places):
    import torch as course_torch
    import torch.distributed as course_dist
    from gpu_course.lessons.context_parallel.context_model import one_process, over_ranks

    places = [course_torch.tensor(own) for own in places]
    loss, found = over_ranks(places, course_forward, course_backward)
    right_loss, right = one_process()
    return [
        abs(loss - right_loss),
        max((a - b).abs().max().item() for a, b in zip(found, right, strict=True)),
    ]
"""


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
    places = _unlike(layout, ranks)
    tokens, heads, width = [len(own) for own in places], 1, 2
    run = run_own(
        "ring_attention", ranks, _GIVEN + _FORWARD, places=_lists(places), heads=heads, width=width
    )
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
    lines = [f"your ring_attention on {ranks} ranks, {tokens} tokens, beside torch in one process"]
    for name in LAYOUTS:
        places = _lists(_layout(name, tokens, ranks))
        run = run_own("ring_attention", ranks, _GIVEN + _EXACT, places=places, heads=2, width=8)
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
    from gpu_course.lessons.context_parallel.context_model import SHAPE

    places = _lists(_layout(layout, SHAPE.sequence, ranks))
    # Both answers have helpers; each is read in a namespace of its own.
    forward, backward = (
        _as_function(name) for name in ("ring_attention", "ring_attention_backward")
    )
    tail = f"\n\ncourse_forward = {forward}\ncourse_backward = {backward}\n{_STEP}"
    run = run_own("ring_attention", ranks, tail, places=places)
    loss, gradients = (max(each) for each in zip(*run.results, strict=True))
    lines = [
        f"a step of the small GPT, {SHAPE.sequence} tokens {layout} on {ranks} ranks",
        f"  loss:      {_verdict(loss)}",
        f"  gradients: {_verdict(gradients)}",
    ]
    return "\n".join(lines)


def _as_function(name: str) -> str:
    """An expression that reads an answer and gives its function."""
    text = own_text(name)
    return f"(lambda scope: (exec({text!r}, scope), scope[{name!r}])[1])({{'__name__': {name!r}}})"


# What it costs


def _shape(tokens: int, heads: int, kv_heads: int) -> Attention:
    return Attention(tokens, heads, kv_heads)


def _tokens(value: float) -> str:
    return f"{value / 1024:g}k" if value >= 1024 else f"{value:g}"


def memory(ranks: int = 8, heads: int = 32, kv_heads: int = 8) -> Figure:
    """Returns what a GPU holds for one layer's attention over the length of the sequence.

    Args:
        ranks: that share the sequence.
        heads, kv_heads: of queries; of keys and values. Width 128, 16 bits.
    """
    lengths = [2**k for k in range(13, 23)]
    names = {
        "one GPU": "all on one GPU",
        "gather": "keys and values gathered",
        "Ulysses": "Ulysses",
        "ring": "ring",
    }
    curves = {
        words: [(s, costs.held_bytes(_shape(s, heads, kv_heads), ranks, way)) for s in lengths]
        for way, words in names.items()
    }
    return draw_curves(
        curves, f"One layer's attention on {ranks} ranks",
        f"{heads} heads of queries, {kv_heads} of keys, width 128, 16 bits; no scores are stored",
        ("tokens of the sequence", "held by a rank"), (_tokens, format_bytes),
    )  # fmt: skip


def choose(
    ranks: int = 8, heads: int = 32, kv_heads: int = 32, tokens_per_rank: int = 8192
) -> Figure:
    """Returns what a rank sends by ring and by Ulysses over the ranks, and which sends less.

    Args:
        ranks: that are to share the sequence; the verdict is for these.
        heads, kv_heads: of queries; of keys and values, at most as many. Width 128, 16 bits.
        tokens_per_rank: of the sequence.
    """
    shape = _shape(ranks * tokens_per_rank, heads, min(heads, kv_heads))
    most = costs.ulysses_ranks(shape)
    counts = [2**k for k in range(1, 8)]
    curves = {
        "ring, or a gather of keys and values": [(n, costs.ring_bytes(shape, n)) for n in counts]
    }
    if most > 1:
        curves[f"Ulysses, up to {most} ranks"] = [
            (n, costs.ulysses_bytes(shape, n)) for n in counts if most % n == 0
        ]
    return draw_curves(
        curves, verdict(shape, ranks),
        f"forward, one layer, {shape.tokens:,} tokens, {heads} heads of queries, "
        f"{shape.kv_heads} of keys",
        ("ranks", "sent by a rank"), (lambda n: f"{n:g}", format_bytes),
    )  # fmt: skip


def verdict(shape: Attention, ranks: int) -> str:
    """Returns which of the two sends less, in one sentence.

    Args:
        shape: of the attention.
        ranks: that are to share the sequence.
    """
    ring = costs.ring_bytes(shape, ranks)
    if ranks > 1 and shape.kv_heads % ranks:
        return (
            f"{ranks} ranks do not divide {shape.kv_heads} heads of keys: ring, "
            f"{format_bytes(ring)}"
        )
    ulysses = costs.ulysses_bytes(shape, ranks)
    if ring == ulysses:
        return f"{ranks} ranks: both send {format_bytes(ring)} from each"
    less, more = sorted((ring, ulysses))
    name = "ring" if ring < ulysses else "Ulysses"
    return f"{ranks} ranks: {name}, {format_bytes(less)} from each against {format_bytes(more)}"


def attention_share(hidden: int = 4096) -> Figure:
    """Returns the operations of the scores over those of a layer's matrices, over the length.

    Args:
        hidden: width of the model.
    """
    lengths = [2**k for k in range(10, 21)]
    curve = [(s, costs.attention_over_rest(s, hidden)) for s in lengths]
    return draw_curves(
        {"every score counted": curve, "half of them: causal": [(s, y / 2) for s, y in curve]},
        f"Attention's operations over all others, width {hidden:,}",
        "s / (6 h) for s tokens; below 1 the matrices cost more",
        ("tokens of the sequence", "times the matrices"),
        (_tokens, lambda value: f"{value:.3g}"),
        (1.0, "as much as the matrices"),
    )


BYTES_PER_TOKEN = 4
"""A usual figure for English text and a vocabulary of some 30,000 to 100,000; code has fewer."""


def lengths_of(folder: Path, pattern: str) -> list[int]:
    """Returns the lengths of a folder's files in tokens, counted as bytes / 4.

    Args:
        folder: is searched through.
        pattern: of the files' names, such as "*.py".
    """
    sizes = (path.stat().st_size for path in folder.rglob(pattern) if path.is_file())
    return [size // BYTES_PER_TOKEN for size in sizes if size >= BYTES_PER_TOKEN]


def binned(lengths: Sequence[int]) -> list[tuple[str, float, float]]:
    """Returns (range, share of the documents, share of the tokens) for ranges that double twice.

    >>> binned([100, 3000, 3000])[0]
    ('< 512', 0.3333333333333333, 0.01639344262295082)
    """
    ends = [0, 512, 2048, 8192, 32_768, 131_072, 1 << 62]
    names = ["< 512", "to 2k", "to 8k", "to 32k", "to 128k", "more"]
    total = sum(lengths)
    found = []
    for name, (low, high) in zip(names, pairwise(ends), strict=True):
        inside = [n for n in lengths if low <= n < high]
        found.append((name, len(inside) / len(lengths), sum(inside) / total))
    return found


def installed_lengths() -> list[int]:
    """Returns the lengths in tokens of the Python sources of the PyTorch that is installed here."""
    import torch

    return lengths_of(Path(torch.__file__).parent, "*.py")


def own_lengths() -> Picture:
    """Returns how long the documents of a small collection are: PyTorch's own Python sources."""
    lengths = installed_lengths()
    short = sum(n < 2048 for n in lengths) / len(lengths)
    second = f"{len(lengths):,} files; {100 * short:.0f} % have fewer than 2k tokens (bytes / 4)"
    return Picture(draw_lengths(binned(lengths), "PyTorch's Python sources, by length", second))


def lived_in_llama_3(ranks: int = 16, tokens: int = 131_072, tensor_ranks: int = 8) -> str:
    """Returns what gathered keys and values take in Llama 3 405B, with its own numbers.

    Args:
        ranks: that share the sequence.
        tokens: of the sequence.
        tensor_ranks: that share the heads, of which there are 128 of queries and 8 of keys.

    Source: Llama Team 2024, The Llama 3 Herd of Models, tables 3 and 4.
    """
    shape = Attention(tokens, 128 // tensor_ranks, 8 // tensor_ranks)
    queries, keys = shape.query_bytes, 2 * shape.key_bytes
    lines = [
        f"{tokens:,} tokens, {ranks} ranks; heads on each: {shape.heads} and {shape.kv_heads}",
        f"  q of a rank's own tokens     {format_bytes(queries / ranks):>10}",
        f"  all keys and values          {format_bytes(keys):>10}",
        f"  sent by a rank, gather       {format_bytes(costs.gather_bytes(shape, ranks)):>10}",
        f"  sent by a rank, ring         {format_bytes(costs.ring_bytes(shape, ranks)):>10}",
    ]
    return "\n".join(lines)


def bytes_table(ranks: int = 4, tokens: int = 48, heads: int = 4, width: int = 8) -> str:
    """Returns a table: payload of a rank in float64, by the formulas, for each way.

    Args:
        ranks, tokens, heads, width: of the attention; as many heads of keys as of queries.
    """
    shape = Attention(tokens, heads, heads, width, 8)
    rows: dict[str, Any] = {
        "ring, forward": costs.ring_bytes,
        "ring, backward": costs.ring_backward_bytes,
        "gather of k and v": costs.gather_bytes,
        "Ulysses, forward": costs.ulysses_bytes,
    }
    lines = [f"{tokens} tokens, {heads} heads of width {width}, float64, {ranks} ranks"]
    lines += [f"  {name:<18}{each(shape, ranks):>10,.0f} bytes" for name, each in rows.items()]
    return "\n".join(lines)

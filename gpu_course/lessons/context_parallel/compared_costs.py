"""What lesson 25 shows of costs: what a rank holds and sends by each way, and which to choose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_course.lessons.context_parallel import sequence_costs as costs
from gpu_course.lessons.context_parallel.pictures import (
    draw_curves,
)
from gpu_course.lessons.context_parallel.sequence_costs import Attention
from gpu_course.units import format_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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

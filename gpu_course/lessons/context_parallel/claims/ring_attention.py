"""What a count of causal blocks says of context parallelism that somebody measured."""

from __future__ import annotations

from functools import cache

from gpu_course.claims.models import model
from gpu_course.lessons.context_parallel.sequence_layouts import LAYOUTS, bound, packed_work, work

README_TOKENS = 8192
"""Tokens on each GPU in the benchmarks of ring-flash-attention."""

README_DOCUMENTS = (
    (0, 8192),
    (0, 256, 7648, 8192),
    (0, 4096, 8192),
    (0, 3104, 6304, 7904, 8064, 8192),
)
"""Where documents begin and end, by turns, each times the number of GPUs.

Source: ring-flash-attention, benchmark/benchmark_varlen_kvpacked_func.py, commit 8996282.
"""


@cache
def _bound(layout: str, ranks: int) -> float:
    return bound(work(LAYOUTS[layout](ranks * README_TOKENS, ranks)))


@model(layout={name: name for name in LAYOUTS})
def causal_bound_percent(layout: str, ranks: int) -> float:
    """Returns the most of their time in which ranks of a causal ring compute, in per cent.

    >>> round(causal_bound_percent("plain", 8), 1), round(causal_bound_percent("zigzag", 8), 1)
    (53.3, 100.0)
    """
    return 100 * _bound(layout, ranks)


@model()
def gathered_documents_percent(ranks: int) -> float:
    """Returns the same for documents end to end, cut in equal parts, all keys gathered first.

    The batches of the benchmark by turns, each as slow as its slowest rank; no rounds.
    """
    works = [packed_work([ranks * end for end in ends], ranks) for ends in README_DOCUMENTS]
    return 100 * sum(each.mean() for each in works) / sum(each.max() for each in works)


@model()
def loses_as_before_percent(
    ideal: float, other_ideal: float, zigzag: float, other_zigzag: float, other_striped: float
) -> float:
    """Returns the per cent of the ideal that stripes reach, from what they lost on another GPU.

    Stripes lose so many times the time that zigzag loses, on both GPUs alike.

    Args:
        ideal: iterations per second without any loss.
        zigzag: iterations per second in zigzag.
        other_ideal, other_zigzag, other_striped: the same on the other GPU.
    """
    times = (1 / other_striped - 1 / other_ideal) / (1 / other_zigzag - 1 / other_ideal)
    seconds = 1 / ideal + times * (1 / zigzag - 1 / ideal)
    return 100 / (ideal * seconds)


@model("rate")
def gain_of_balance(ranks: int) -> float:
    """Returns how many times as quick a causal ring is once its work is shared, in blocks.

    >>> gain_of_balance(4)
    1.75
    """
    return (ranks - 0.5) / (ranks / 2)


@model("rate")
def first_rank_waits_percent(ranks: int) -> float:
    """Returns the part of the time in which rank 0 of a plain causal ring has nothing to do."""
    return 100 * (1 - 0.5 / (ranks - 0.5))


@model()
def one_gpus_share(total: float, gpus: float) -> float:
    """Returns the iterations per second of so much work on one of the GPUs that share it."""
    return total / gpus


LLAMA_3_8B_WEIGHTS, LLAMA_3_8B_LAYERS, LLAMA_3_8B_WIDTH = 7.50e9, 32, 4096
"""Weights without the embedding, layers, and the width of all queries of a token."""


@model()
def longer_context_tokens_per_s(tokens: int, at_tokens: int, measured: float) -> float:
    """Returns tokens per second and GPU at another length, from those at one.

    A token costs 8 FLOP for each weight, recomputation included, and 16 for each layer, number of
    its queries and token before it: half of the sequence on average.
    """

    def flops(length: int) -> float:
        attention = 16 * LLAMA_3_8B_LAYERS * LLAMA_3_8B_WIDTH * length / 2
        return 8 * LLAMA_3_8B_WEIGHTS + attention

    return measured * flops(at_tokens) / flops(tokens)

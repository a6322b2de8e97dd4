"""What runs of models with experts take, from runs of others: rates carried over, and lines."""

from __future__ import annotations

import math

from gpu_course.claims.models import model

STEP_S = 0.04
"""Of a step with the smaller batch, what is paid once whatever the batch: a guess."""


@model()
def line_through_doublings(
    x: float, x_one: float, y_one: float, x_two: float, y_two: float
) -> float:
    """Returns the value at x of a line that rises as much with every doubling."""
    return y_one + (y_two - y_one) * math.log2(x / x_one) / math.log2(x_two / x_one)


@model()
def step_s_at_rate(sequences: float, length: float, gpus: float, tokens_per_s: float) -> float:
    """Returns what a step takes at a rate that the same model reached elsewhere.

    Args:
        sequences, length: of the global batch, and tokens of each.
        gpus: that share it.
        tokens_per_s: of a GPU.
    """
    return sequences * length / gpus / tokens_per_s


@model()
def larger_batch_over_smaller(
    ranks: float, chunks: float, microbatches: float, smaller: float
) -> float:
    """Returns throughput at a larger batch over that at a smaller one.

    The bubble is paid once for a step, and so is a share STEP_S of the smaller step.

    Args:
        ranks, chunks: of the pipeline.
        microbatches, smaller: with the larger and with the smaller batch.
    """
    once = (ranks - 1) / chunks + STEP_S * smaller
    return (1 + once / smaller) / (1 + once / microbatches)


@model()
def tokens_at_known_rate(
    gigaflop: float, teraflops: float, elsewhere: float, of_smallest: float
) -> float:
    """Returns tokens per second and GPU, at FLOP/s that other models reached on such a card.

    Larger models reach more. How much more, another card says, and half of it is carried over.

    Args:
        gigaflop: of a token.
        teraflops: that other models reached on this card, their geometric mean.
        elsewhere: TFLOP/s of this model on the other card.
        of_smallest: TFLOP/s there of the smallest of the models that are asked for.
    """
    return teraflops * math.sqrt(elsewhere / of_smallest) * 1000 / gigaflop

"""What cutting a layer costs in time: models for lesson 24, of bytes over a bandwidth."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.units import GB

BF16_BYTES = 2
SUMS = 4
"""All-reduces of a layer in a step: two in the forward pass, and two in the backward pass."""


def seconds_of_sums(ranks: float, layers: float, hidden: float, gb_per_s: float) -> float:
    """Returns the time that each GPU spends on the sums of a layer's cut, per token of a GPU.

    A replica of t ranks sums `SUMS` x `layers` x `hidden` numbers per token, in t times the time
    per token that one GPU alone would have: t x 2 (t - 1) / t of the bytes, over the bandwidth.

    Args:
        ranks: that share a layer (t).
        layers, hidden: of the model.
        gb_per_s: bus bandwidth of the all-reduces.
    """
    per_token = SUMS * layers * hidden * BF16_BYTES
    return 2 * (ranks - 1) * per_token / (gb_per_s * GB)


@model()
def cut_tokens_per_s(
    ranks: float, at_2_ranks: float, layers: float, hidden: float, gb_per_s: float, inside: float
) -> float:
    """Returns tokens per second and GPU of a model cut among ranks.

    What two ranks took, less their own sums, is computing; it stays what it is for a token. The
    sums of more ranks come on top, and nothing overlaps.

    Args:
        ranks: that share a layer.
        at_2_ranks: what two ranks were measured at.
        layers, hidden: of the model.
        gb_per_s: bus bandwidth among all these ranks.
        inside: bus bandwidth among two of them, in a node.
    """
    computing = 1 / at_2_ranks - seconds_of_sums(2, layers, hidden, inside)
    return 1 / (computing + seconds_of_sums(ranks, layers, hidden, gb_per_s))


@model()
def hidden_tokens_per_s(
    measured: float, ranks: float, layers: float, hidden: float, gb_per_s: float
) -> float:
    """Returns tokens per second and GPU if none of the sums took any time of its own."""
    return 1 / (1 / measured - seconds_of_sums(ranks, layers, hidden, gb_per_s))


@model()
def percent_of_linear(petaflops: float, gpus: float, teraflops_of_one: float) -> float:
    """Returns what many GPUs do together, in percent of as many times what one does."""
    return 100 * 1000 * petaflops / (gpus * teraflops_of_one)


@model()
def bound_teraflops(gpus: float, measured_gpus: float, measured: float) -> float:
    """Returns TFLOP/s per GPU where a step takes as long as the weights take to arrive.

    That time does not depend on how many GPUs share the model; with a fixed batch a GPU's part of
    the computing does, so its rate falls as 1 / n.
    """
    return measured * measured_gpus / gpus

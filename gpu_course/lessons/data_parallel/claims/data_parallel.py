"""What a ring and a count of bytes say of data-parallel training that somebody measured."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.measure.alpha_beta import Link, ring_all_reduce_s
from gpu_course.units import GB

BATCH_SEQUENCES, SEQUENCE_TOKENS = 256, 4096
BATCH_TOKENS = BATCH_SEQUENCES * SEQUENCE_TOKENS
"""Of a step of the Playbook's benchmark: 256 sequences of 4,096, on all GPUs together."""
PARAMETERS = 1.34e9
GRADIENT_BYTES = 4
"""Of a parameter: gradients are added up in float32."""


def _step_parts_s(gpus: float, bus_gb_per_s: float, at_8_gpus: float) -> tuple[float, float]:
    """Returns (seconds of computing, seconds of a ring's all-reduce) of a step.

    Args:
        gpus: how many share the batch.
        bus_gb_per_s: bus bandwidth of an all-reduce over them, which is what a ring's port carries.
        at_8_gpus: tokens per second that one GPU worked off where little was sent.
    """
    compute_s = BATCH_TOKENS / gpus / at_8_gpus
    link = Link(0.0, bus_gb_per_s * GB)
    return compute_s, ring_all_reduce_s(int(gpus), PARAMETERS * GRADIENT_BYTES, link)


@model()
def tokens_per_s_if_hidden(gpus: float, bus_gb_per_s: float, at_8_gpus: float) -> float:
    """Returns tokens per second and GPU where a step takes the longer one of computing and sending.

    >>> round(tokens_per_s_if_hidden(16, 361.7, 40149.94))
    40150
    """
    compute_s, send_s = _step_parts_s(gpus, bus_gb_per_s, at_8_gpus)
    return BATCH_TOKENS / gpus / max(compute_s, send_s)


@model()
def tokens_per_s_if_exposed(gpus: float, bus_gb_per_s: float, at_8_gpus: float) -> float:
    """Returns tokens per second and GPU where a step computes first, and then sends.

    >>> round(tokens_per_s_if_exposed(256, 64.9, 40149.94))
    15367
    """
    return BATCH_TOKENS / gpus / sum(_step_parts_s(gpus, bus_gb_per_s, at_8_gpus))


def computing_share(
    gpus: float, bus_gb_per_s: float, at_8_gpus: float, sequences: float = BATCH_SEQUENCES
) -> float:
    """Returns the part of a step in which a GPU computes, where it computes first and then sends.

    Args:
        gpus, bus_gb_per_s, at_8_gpus: as in `tokens_per_s_if_exposed`.
        sequences: of a step, on all GPUs together.

    >>> round(computing_share(256, 64.9, 40149.94), 2)
    0.38
    """
    compute_s, send_s = _step_parts_s(gpus, bus_gb_per_s, at_8_gpus)
    compute_s *= sequences / BATCH_SEQUENCES
    return compute_s / (compute_s + send_s)


@model()
def seconds_with_half_the_bytes(alone: float, together: float) -> float:
    """Returns the seconds of a step whose exposed messages become half as large.

    >>> seconds_with_half_the_bytes(1.4, 6.4)
    3.9
    """
    return alone + (together - alone) / 2


@model()
def eight_bit_share(halves: float, block: float) -> float:
    """Returns the bytes of an all-reduce with one or two halves in 8 bits, over all in 16 bits.

    A half is its reduce-scatter or its all-gather. In 8 bits, `block` numbers share a scale of four
    bytes.

    >>> eight_bit_share(2, 4), eight_bit_share(0, 4)
    (1.0, 1.0)
    """
    small = 1 + 4 / block
    return (halves * small + (2 - halves) * 2) / 4

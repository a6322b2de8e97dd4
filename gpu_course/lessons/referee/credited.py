"""The FLOP that the Playbook's benchmark credits a token with: 6 N + 12 L h s, N as it counts it.

With pipeline stages a tied table is on the first and on the last of them, and is counted twice.
"""

from __future__ import annotations

from dataclasses import replace

from gpu_course.measure.transformer_shapes import Transformer

H100 = 989.5e12
"""FLOP/s in bfloat16, as the Playbook takes it."""


def counted_parameters(shape: Transformer, stages: int) -> int:
    """Returns how many parameters the benchmark counts.

    >>> from gpu_course.planner.playbook import MODELS
    >>> [round(counted_parameters(MODELS["1.34B"], stages) / 1e9, 2) for stages in (1, 2)]
    [1.34, 1.61]
    """
    return replace(shape, tied=shape.tied and stages == 1).parameters


def credited_flop(shape: Transformer, stages: int, sequence: int) -> int:
    """Returns the FLOP of a token, forward and backward, as the benchmark credits them."""
    attention = 12 * shape.layers * shape.hidden * sequence
    return 6 * counted_parameters(shape, stages) + attention


def credited_mfu(shape: Transformer, stages: int, sequence: int, tokens_per_s: float) -> float:
    """Returns the MFU in % for tokens a second on each GPU, as the benchmark works it out."""
    return 100 * credited_flop(shape, stages, sequence) * tokens_per_s / H100

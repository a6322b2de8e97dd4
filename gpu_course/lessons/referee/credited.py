"""The FLOP that the Playbook's benchmark credits a token with: 6 N + 12 L h s, and how N is counted.

With pipeline stages a tied table is on the first and on the last of them, and is counted twice.
"""

from __future__ import annotations

from typing import NamedTuple

from gpu_course.measure.transformer_shapes import Transformer

H100 = 989.5e12
"""FLOP/s in bfloat16, as the Playbook takes it."""


class Shape(NamedTuple):
    """A model: gated MLPs, rotated positions, no biases, two norms to a layer and one at the end."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    mlp: int
    vocabulary: int
    tied: bool


def counted_parameters(shape: Shape, stages: int) -> int:
    """Returns how many parameters the benchmark counts."""
    return Transformer(
        layers=shape.layers, hidden=shape.hidden, heads=shape.heads, kv_heads=shape.kv_heads,
        mlp=shape.mlp, gated=True, vocabulary=shape.vocabulary, tied=shape.tied and stages == 1,
        norm="rms",
    ).parameters  # fmt: skip


def credited_flop(shape: Shape, stages: int, sequence: int) -> int:
    """Returns the FLOP of a token, forward and backward, as the benchmark credits them."""
    attention = 12 * shape.layers * shape.hidden * sequence
    return 6 * counted_parameters(shape, stages) + attention

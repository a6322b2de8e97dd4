"""A stage whose backward pass is cut in two: its layers, and what goes in at both ends."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

FLOAT64_BYTES = 8
HELD_BY_F, HELD_FOR_W = 3, 2
"""Tensors of each inner width that are held after F, and of them, with what I adds, for W."""


def layers_of(widths: Sequence[int], seed: int) -> list[nn.Module]:
    """Returns a stage in float64: linear layers, and between two of them what has no parameters.

    Args:
        widths: of what goes in, of what goes from one linear layer to the next, of what comes out.
        seed: of the parameters.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers: list[nn.Module] = []
        for number, (before, after) in enumerate(pairwise(widths)):
            if number:
                layers += [nn.LayerNorm(before, elementwise_affine=False), nn.GELU()]
            layers.append(nn.Linear(before, after, bias=number % 2 == 0))
        return [layer.double() for layer in layers]


def at_both_ends(
    widths: Sequence[int], rows: int, microbatches: int, seed: int
) -> tuple[list[Tensor], list[Tensor]]:
    """Returns for each microbatch what goes into a stage, and the gradient to what comes out."""
    generator = torch.Generator().manual_seed(seed + 1)

    def drawn(width: int) -> list[Tensor]:
        return [
            torch.randn(rows, width, dtype=torch.float64, generator=generator)
            for _ in range(microbatches)
        ]

    return drawn(widths[0]), drawn(widths[-1])


def held_bytes(widths: Sequence[int], rows: int, tensors: int) -> int:
    """Returns what so many tensors of each inner width take, for one microbatch."""
    return tensors * FLOAT64_BYTES * rows * sum(widths[1:-1])


def product_flop(widths: Sequence[int], rows: int) -> int:
    """Returns the FLOP of one matrix product of every linear layer, for one microbatch.

    F, I and W have one each.
    """
    return 2 * rows * sum(a * b for a, b in pairwise(widths))

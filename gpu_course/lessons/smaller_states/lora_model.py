"""A frozen linear layer with a narrow detour beside it that is trained: LoRA."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class LoRA(nn.Module):
    """A linear layer plus alpha / rank times B A, of which only A and B are trained.

    Args:
        linear: the layer; its parameters are frozen here.
        rank: rows of A and columns of B.
        alpha: how much the detour weighs, whatever the rank.

    A begins as in the authors' code (Kaiming, uniform); the paper says Gaussian.

    Source: Hu et al. 2021, arXiv 2106.09685, section 4.1, and github.com/microsoft/LoRA.
    """

    def __init__(self, linear: nn.Linear, rank: int, alpha: float) -> None:
        super().__init__()
        self.linear = linear.requires_grad_(False)
        weight = linear.weight
        self.A = nn.Parameter(torch.empty(rank, linear.in_features, dtype=weight.dtype))
        self.B = nn.Parameter(torch.zeros(linear.out_features, rank, dtype=weight.dtype))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.scale = alpha / rank

    def forward(self, x: Tensor) -> Tensor:
        """Returns (rows, out) for x of (rows, in); B A is never worked out."""
        detour = (x @ self.A.mT) @ self.B.mT  # (rows, in) @ (in, rank) @ (rank, out)
        return self.linear(x) + self.scale * detour

    @torch.no_grad()
    def merged(self) -> Tensor:
        """Returns one weight that does what both ways do together: (out, in)."""
        return self.linear.weight + self.scale * (self.B @ self.A)


def put_lora(model: nn.Module, blocks: nn.Module, rank: int, alpha: float, seed: int = 0) -> None:
    """Freezes a model, and puts a LoRA in the place of each linear layer of some of its blocks.

    Args:
        model: what is frozen, the blocks among it.
        blocks: where linear layers are replaced, in place.
        rank, alpha: as for LoRA.
        seed: of every A.
    """
    model.requires_grad_(False)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for parent in list(blocks.modules()):
            for name, child in list(parent.named_children()):
                if isinstance(child, nn.Linear):
                    setattr(parent, name, LoRA(child, rank, alpha))

"""Small real modules that keep memory in different ways, each with a batch for it."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from gpu_course.measure.model import Layer

PADDING = 16
"""Cells of a packed module's storage that stand before its parameters."""


class Square(nn.Module):
    """Its input times itself, then the sine: the product keeps the same tensor twice."""

    def forward(self, x: Tensor) -> Tensor:
        """Returns sin(x * x)."""
        return (x * x).sin()


class Gate(nn.Module):
    """Half of a linear layer's output decides how much of the other half passes."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.both = nn.Linear(width, 2 * width)

    def forward(self, x: Tensor) -> Tensor:
        """Returns (rows, width) for x of (rows, width)."""
        value, gate = self.both(x).chunk(2, dim=-1)  # two views of one storage
        return value * gate.sigmoid()


class Halves(nn.Module):
    """A product of the two halves of a linear layer's output."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.both = nn.Linear(width, 2 * width)

    def forward(self, x: Tensor) -> Tensor:
        """Returns (rows, width) for x of (rows, width)."""
        one, other = self.both(x).chunk(2, dim=-1)
        return one * other  # keeps two views of one storage, which begin in different places


class Folded(nn.Module):
    """Keeps an activation twice: as it came out, and folded into rows half as wide."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.wide = nn.Linear(width, 2 * width)
        self.narrow = nn.Linear(width, 3)

    def forward(self, x: Tensor) -> Tensor:
        """Returns (2 rows, 3) for x of (rows, width)."""
        return self.narrow(self.wide(x).tanh().view(-1, x.shape[1]))


class Waves(nn.Module):
    """One sine after the other: each keeps a storage of the same size."""

    def forward(self, x: Tensor) -> Tensor:
        """Returns sin(sin(... sin(x)))."""
        for _ in range(24):
            x = x.sin()
        return x


class FirstColumns(nn.Module):
    """Uses a few columns of what a linear layer made; the rest lies in the same storage."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.wide = nn.Linear(width, 8 * width)

    def forward(self, x: Tensor) -> Tensor:
        """Returns (rows, 3)."""
        return self.wide(x)[:, :3].cos()


class Tokens(nn.Module):
    """An embedding, a layer norm and a linear layer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, width)
        self.norm = nn.LayerNorm(width)
        self.linear = nn.Linear(width, 4)

    def forward(self, tokens: Tensor) -> Tensor:
        """Returns (rows, 4) for tokens (rows,) of int64."""
        return self.linear(self.norm(self.embedding(tokens)))


def packed(module: nn.Module) -> nn.Module:
    """Returns the module with its parameters side by side in one storage, behind some padding.

    So no parameter begins where the storage does, and all of them together are sent or saved in one
    piece. Their values stay as they are.
    """
    parameters = list(module.parameters())
    row = torch.zeros(PADDING + sum(parameter.numel() for parameter in parameters))
    start = PADDING
    for parameter in parameters:
        place = row[start : start + parameter.numel()].view(parameter.shape)
        parameter.data = place.copy_(parameter.data)
        start += parameter.numel()
    return module


def mlp(width: int) -> nn.Module:
    """Returns two linear layers with GELU between them; the output is narrower than the input."""
    return nn.Sequential(nn.Linear(width, 3 * width), nn.GELU(), nn.Linear(3 * width, 2))


def masked(width: int) -> nn.Module:
    """Returns a linear layer in 16 bit with dropout and ReLU behind it."""
    return nn.Sequential(nn.Linear(width, width), nn.Dropout(0.25), nn.ReLU()).bfloat16()


def normalised(width: int) -> nn.Module:
    """Returns a linear layer with batch norm, whose running statistics are buffers."""
    return nn.Sequential(nn.Linear(width, 2 * width), nn.BatchNorm1d(2 * width), nn.Tanh())


MODULES: dict[str, Callable[[int], nn.Module]] = {
    "mlp": mlp,
    "square": lambda width: Square(),
    "gate": Gate,
    "first columns": FirstColumns,
    "dropout in bfloat16": masked,
    "batch norm": normalised,
    "tokens": lambda width: packed(Tokens(width)),
    "transformer layer": lambda width: Layer(4 * width, 4),
    "product of halves": Halves,
    "folded": Folded,
    "many sines": lambda width: Waves(),
}


def sample(kind: str, rows: int, width: int, seed: int) -> tuple[nn.Module, Tensor]:
    """Returns a module of MODULES in training mode, and a batch for it.

    Args:
        kind: a key of MODULES.
        rows, width: sizes of the batch; the transformer layer gets (2, rows, 4 * width).
        seed: of parameters and batch.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        module = MODULES[kind](width)
        if kind == "tokens":
            return module, torch.randint(0, 50, (rows,))
        shape = (2, rows, 4 * width) if kind == "transformer layer" else (rows, width)
        x = torch.randn(shape, dtype=next(iter(module.parameters()), torch.empty(0)).dtype)
        # Without a parameter, the batch itself has to ask for a gradient, or nothing is kept.
        return module, x.requires_grad_(not list(module.parameters()))

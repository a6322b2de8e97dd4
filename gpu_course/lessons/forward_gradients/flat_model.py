"""A loss as a function of one row of numbers: all parameters of a model, one behind the other."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

import gpu_course.lessons.forward_gradients.tangent_rules  # noqa: F401 (before the first jvp)

Loss = Callable[[Tensor], Tensor]


class Flat:
    """A model whose parameters are one vector: `loss(point)` runs it with other ones.

    Args:
        model: its parameters are changed by `put` alone.
        loss: takes what the model gives and the targets.
    """

    def __init__(self, model: nn.Module, loss: Callable[[Tensor, Tensor], Tensor]) -> None:
        self.model = model
        self.loss = loss
        self.shapes = {name: p.shape for name, p in model.named_parameters()}

    def point(self) -> Tensor:
        """Returns all parameters in one row: (d,)."""
        return torch.cat([p.detach().flatten() for p in self.model.parameters()])

    def at(self, x: Tensor, y: Tensor) -> Loss:
        """Returns the loss of a batch as a function of the parameters in one row."""

        def of(point: Tensor) -> Tensor:
            pieces = point.split([shape.numel() for shape in self.shapes.values()])
            named = {
                name: piece.view(shape)
                for (name, shape), piece in zip(self.shapes.items(), pieces, strict=True)
            }
            return self.loss(functional_call(self.model, named, (x,)), y)

        return of


def half_moons(rows: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Returns (points (rows, 2), classes (rows,)): two arcs, one in the arms of the other.

    Args:
        rows: how many points.
        seed: of the points.
    """
    generator = torch.Generator().manual_seed(seed)
    turn = torch.rand(rows, generator=generator) * math.pi
    classes = torch.arange(rows) % 2
    upper = torch.stack([turn.cos(), turn.sin()], dim=1)
    lower = torch.stack([1 - turn.cos(), 0.5 - turn.sin()], dim=1)
    points = torch.where(classes[:, None] == 0, upper, lower)
    return points + 0.1 * torch.randn(rows, 2, generator=generator), classes


def moons_model(hidden: int = 8, seed: int = 0) -> nn.Module:
    """Returns a fresh classifier of half moons, with 5 * hidden + 2 parameters."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, 2))


def deep_problem(depth: int, width: int, rows: int, seed: int) -> tuple[Loss, Tensor]:
    """Returns (loss, point) of a chain of layers with one matrix for all: float64.

    The matrix is the same in every layer, so the point does not grow with the depth; what a
    backward pass would keep does.

    Args:
        depth: layers.
        width: of the matrix; the point has width * width numbers.
        rows: of the batch.
        seed: of batch and point.
    """
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, width, generator=generator, dtype=torch.float64)
    y = torch.randn(rows, width, generator=generator, dtype=torch.float64)
    point = torch.randn(width * width, generator=generator, dtype=torch.float64) / width**0.5

    def loss(parameters: Tensor) -> Tensor:
        hidden = x
        for _ in range(depth):
            hidden = torch.tanh(hidden @ parameters.view(width, width))
        return functional.mse_loss(hidden, y)

    return loss, point

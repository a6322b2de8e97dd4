"""A small model of which every rank holds one, with what a real one brings along.

A parameter that asks for no gradient, a layer that no rank uses, and one that some ranks use and
others do not: each has broken somebody's first data-parallel training.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

NONE, MIDDLE, LAST = range(3)
"""Whether a replica has extras, and whether the unused layer is in the middle of it or the last."""


class Replica(nn.Module):
    """Linear layers with tanh between them, in float64.

    Args:
        widths: of the input, of what lies between the layers, and of the output; at least three.
        extras: one of NONE, MIDDLE and LAST. All but the first bring a frozen scale of the input, a
            layer beside the others, which comes first, and an unused one.
    """

    def __init__(self, widths: Sequence[int], extras: int) -> None:
        super().__init__()
        first, *_, last = widths
        frozen = nn.Parameter(torch.ones(first), requires_grad=False)
        self.scale = frozen if extras else None
        self.beside = nn.Linear(first, last) if extras else None
        self.entry = nn.Linear(first, widths[1])
        self.unused = nn.Linear(first, 2) if extras == MIDDLE else None
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(widths[1:]))
        self.last = nn.Linear(first, 2) if extras == LAST else None
        self.double()

    def forward(self, x: Tensor, beside: bool = True) -> Tensor:
        """Returns (rows, widths[-1]) for x of (rows, widths[0]).

        Args:
            beside: whether the layer beside the others is used.
        """
        if self.scale is not None:
            x = x * self.scale
        inner = self.entry(x)
        for layer in self.layers:
            inner = layer(inner.tanh())
        return inner if self.beside is None or not beside else inner + self.beside(x)


def replica(widths: Sequence[int], extras: int, weights: np.ndarray) -> Replica:
    """Returns a model with these weights, one parameter behind the other.

    Args:
        widths, extras: as in Replica.
        weights: float64, as many as the model has.
    """
    model = Replica(widths, extras)
    at = 0
    with torch.no_grad():
        for parameter in model.parameters():
            own = torch.from_numpy(weights[at : at + parameter.numel()].copy())
            parameter.copy_(own.view_as(parameter))
            at += parameter.numel()
    return model


@dataclass(frozen=True)
class Own:
    """A parameter of a replica.

    Attributes:
        numbers: how many it has.
        asks: whether it asks for a gradient.
        layer: the part of the replica it belongs to.
    """

    numbers: int
    asks: bool
    layer: str


def parameters_of(widths: Sequence[int], extras: int) -> tuple[Own, ...]:
    """Returns the parameters of a replica, in order.

    >>> [(own.numbers, own.layer) for own in parameters_of((2, 3, 1), NONE)]
    [(6, 'entry'), (3, 'entry'), (3, 'layers'), (1, 'layers')]
    """
    named = Replica(widths, extras).named_parameters()
    return tuple(Own(p.numel(), p.requires_grad, name.split(".")[0]) for name, p in named)


def microbatches(x: np.ndarray, y: np.ndarray) -> Iterator[list[tuple[Tensor, Tensor]]]:
    """Yields for each step its microbatches, (rows, what is wanted of them).

    Args:
        x, y: (steps, microbatches, rows, width) float64.
    """
    for xs, ys in zip(torch.from_numpy(x), torch.from_numpy(y), strict=True):
        yield list(zip(xs, ys, strict=True))


def loss_of(model: nn.Module, x: Tensor, y: Tensor, beside: bool = True) -> Tensor:
    """Returns the mean squared error of a replica on rows of its own."""
    return functional.mse_loss(model(x, beside), y)


def flat_gradients(model: nn.Module) -> tuple[np.ndarray, np.ndarray]:
    """Returns all gradients one behind the other, 0 where there is none, and who has none.

    Returns:
        (numbers,) float64, and 1 for each parameter without a gradient, else 0.
    """
    numbers, missing = [], []
    for parameter in model.parameters():
        missing.append(int(parameter.grad is None))
        grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        numbers.append(grad.detach().flatten())
    return torch.cat(numbers).numpy(), np.array(missing)


def flat_weights(model: nn.Module) -> np.ndarray:
    """Returns a copy of all parameters, one behind the other."""
    return torch.cat([p.detach().flatten() for p in model.parameters()]).numpy()


def descend(model: nn.Module, rate: float) -> None:
    """Takes a step of gradient descent, and leaves no gradient behind."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter.sub_(rate * parameter.grad)
    model.zero_grad(set_to_none=True)

"""A small model of which every island trains a copy on rows of its own, in float64."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

Batch = tuple[Tensor, Tensor]
"""Rows, and what is wanted of them."""


def island(widths: Sequence[int], weights: np.ndarray) -> nn.Sequential:
    """Returns linear layers with tanh between them.

    Args:
        widths: of the input, between the layers, and of the output.
        weights: float64, one parameter behind the other.
    """
    layers: list[nn.Module] = []
    for into, out in pairwise(widths):
        layers += [nn.Linear(into, out), nn.Tanh()]
    model = nn.Sequential(*layers[:-1]).double()
    nn.utils.vector_to_parameters(torch.from_numpy(weights.copy()), model.parameters())
    return model


def numbers_of(widths: Sequence[int]) -> int:
    """Returns how many parameters such a model has.

    >>> numbers_of((2, 3, 1))
    13
    """
    return sum((into + 1) * out for into, out in pairwise(widths))


def loss_of(model: nn.Module, batch: Batch) -> Tensor:
    """Returns the mean squared error of a model on a batch."""
    rows, wanted = batch
    return functional.mse_loss(model(rows), wanted)


def flat(model: nn.Module) -> Tensor:
    """Returns a copy of all parameters, one behind the other."""
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()

"""A model, a loss and a batch to add gradients up over parts of the batch."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from gpu_course.measure.peak import allocate_gradients, measure_peak

Loss = Callable[[Tensor, Tensor], Tensor]


def problem(rows: int, width: int, seed: int) -> tuple[nn.Module, Loss, Tensor, Tensor]:
    """Returns (model, loss, x, y): float64, so that the order of a sum shows only far behind.

    Args:
        rows: of the batch.
        width: of the model.
        seed: of parameters and data.

    Returns:
        The model maps (rows, width) to (rows, 3); the loss is the mean over all its numbers.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = nn.Sequential(
            nn.Linear(width, 4 * width),
            nn.GELU(),
            nn.Linear(4 * width, 4 * width),
            nn.GELU(),
            nn.Linear(4 * width, 3),
        ).double()
        x = torch.randn(rows, width, dtype=torch.float64)
        y = torch.randn(rows, 3, dtype=torch.float64)
    return model, functional.mse_loss, x, y


def flat_gradient(model: nn.Module) -> Tensor | None:
    """Returns all gradients one behind the other, or None where a parameter has none."""
    gradients = [parameter.grad for parameter in model.parameters()]
    if any(gradient is None for gradient in gradients):
        return None
    return torch.cat([gradient.flatten() for gradient in gradients if gradient is not None])


def flat_parameters(model: nn.Module) -> Tensor:
    """Returns a copy of all parameters, one behind the other."""
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def full_gradient(rows: int, width: int, seed: int) -> Tensor:
    """Returns the gradient of the loss of the whole batch at once."""
    model, loss, x, y = problem(rows, width, seed)
    allocate_gradients(model)
    loss(model(x), y).backward()
    gradient = flat_gradient(model)
    assert gradient is not None
    return gradient


def peak_bytes_of_rows(rows: int, width: int, seed: int) -> int:
    """Returns what a forward and backward pass of so many rows holds, above model and batch."""
    model, loss, x, y = problem(rows, width, seed)
    allocate_gradients(model)
    return measure_peak(lambda: loss(model(x), y).backward()).peak_bytes

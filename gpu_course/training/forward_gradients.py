"""Gradients without a backward pass: slopes along directions drawn by chance.

The slope of a loss along a direction v is known after one forward pass that carries the tangent
along. Times v it is an estimate of the gradient, right on average where the directions have the
identity as their second moment.

Source: Baydin et al. 2022, arXiv 2202.08587, section 3.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.func import jvp

from gpu_course.training.flat_model import Loss


def slope(loss: Loss, point: Tensor, direction: Tensor) -> Tensor:
    """Returns the slope of a loss at a point along a direction, from forward passes alone.

    Args:
        loss: takes a tensor of the point's shape and returns a number.
        point, direction: (d,).

    >>> slope(lambda p: (p**2).sum(), torch.tensor([1.0, 2.0]), torch.tensor([0.0, 1.0]))
    tensor(4.)
    """
    with torch.no_grad():  # no graph: nothing is kept for a pass that never comes
        return jvp(loss, (point,), (direction,))[1]


def forward_gradient(loss: Loss, point: Tensor, direction: Tensor) -> Tensor:
    """Returns one estimate of the gradient: the slope along a direction, times the direction."""
    return slope(loss, point, direction) * direction


def draw(size: int, generator: torch.Generator, dtype: torch.dtype = torch.float32) -> Tensor:
    """Returns a direction of independent normal numbers: (size,)."""
    return torch.randn(size, generator=generator, dtype=dtype)


def spread_out(normals: Tensor) -> Tensor:
    """Returns directions at right angles, of length sqrt(d), that span what `normals` span.

    Args:
        normals: (k, d), k no larger than d.

    Returns:
        (k, d). The mean of v v^T over all such frames is the identity, as for normal directions.
    """
    frame = torch.linalg.qr(normals.mT)[0].mT  # (k, d), rows of length 1
    return frame * normals.shape[1] ** 0.5


def averaged(loss: Loss, point: Tensor, directions: Tensor) -> Tensor:
    """Returns the mean of one forward gradient for each row of `directions`, (k, d)."""
    total = torch.zeros_like(point)
    for direction in directions:
        total += forward_gradient(loss, point, direction)
    return total / len(directions)


def total_variance(gradient: Sequence[float] | Tensor, k: int, directions: str) -> float:
    """Returns the mean square distance of an average of k estimates from the gradient.

    Args:
        gradient: (d,).
        k: estimates in the average.
        directions: "normal"; "signs", independent and each 1 or -1; or "right angles", of length
            sqrt(d), with k no larger than d.

    Raises:
        KeyError: there are no such directions.

    >>> [total_variance([3.0, 4.0], 1, kind) for kind in ("normal", "signs", "right angles")]
    [75.0, 25.0, 25.0]
    """
    numbers = torch.as_tensor(gradient, dtype=torch.float64)
    d = len(numbers)
    factors = {"normal": (d + 1) / k, "signs": (d - 1) / k, "right angles": d / k - 1}
    return float(numbers.square().sum()) * factors[directions]

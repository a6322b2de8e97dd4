"""Gradients without a backward pass: slopes along directions drawn by chance.

The slope of a loss along a direction v is known after one forward pass that carries the tangent
along. Times v it is an estimate of the gradient, right on average where the directions have the
identity as their second moment.

Source: Baydin et al. 2022, arXiv 2202.08587, section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.func import grad, jacrev, jvp

from gpu_course.lessons.forward_gradients.flat_model import Loss


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
        normals: (k, d) or many of these, (..., k, d); k no larger than d.

    Returns:
        As `normals`. The mean of v v^T over all such frames is the identity, as for normal ones.
    """
    frame = torch.linalg.qr(normals.mT)[0].mT  # (..., k, d), rows of length 1
    return frame * normals.shape[-1] ** 0.5


def curvature(loss: Loss, point: Tensor) -> tuple[float, float]:
    """Returns how steeply the slope changes along the steepest direction, and over all of them.

    These are the largest eigenvalue and the trace of the Hessian. A small step against the gradient
    goes down below a rate of 2 / largest; one against a forward gradient of normal numbers goes
    down in the mean below 2 / (2 * largest + trace), since the mean of (g.v)^2 v^T H v is
    |g|^2 tr H + 2 g^T H g.

    Args:
        loss, point: as for `slope`; the Hessian has d * d numbers.

    >>> largest, trace = curvature(lambda p: p[0] ** 2 + 3 * p[1] ** 2, torch.zeros(2))
    >>> round(largest, 3), round(trace, 3)
    (6.0, 8.0)
    """
    hessian = jacrev(grad(loss), chunk_size=64)(point)
    values = torch.linalg.eigvalsh(hessian)
    return values[-1].item(), values.sum().item()


DIRECTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "normal numbers": lambda normals: normals,
    "signs": lambda normals: normals.sign(),
    "even, from -1 to 1": lambda normals: torch.erf(normals / 2**0.5),
    "length 1": lambda normals: normals / normals.norm(dim=-1, keepdim=True),
    "even, from 0 to 1": lambda normals: (1 + torch.erf(normals / 2**0.5)) / 2,
}
"""Ways to make directions of normal numbers, (n, d). Only the first two have the identity as the
mean of v v^T."""


def measured_variance(
    d: int, k: int, directions: str, generator: torch.Generator, draws: int | None = None
) -> float:
    """Returns the mean square distance from the gradient, over |g|^2, of averages that were drawn.

    Args:
        d: parameters.
        k: estimates in each average.
        directions: "normal", "signs" or "right angles", as in total_variance.
        generator: of the directions.
        draws: how many averages; default as many as are drawn in a moment.
    """
    draws = draws or min(max(600_000 // (k * d), 100), 6_000)
    normals = torch.randn(draws, k, d, generator=generator)
    makers = {"normal": lambda n: n, "signs": torch.sign, "right angles": spread_out}
    frames = makers[directions](normals)
    gradient = torch.full((d,), d**-0.5)  # of length 1, and along no axis
    averages = ((frames @ gradient)[..., None] * frames).mean(1)  # (draws, d)
    return (averages - gradient).square().sum(1).mean().item()


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

"""Harness of `lora`: looks at the module as it comes, then with given numbers in A and B."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.measure.peak import measure_peak
from gpu_course.puzzle.harness import Unusable, name_of

if TYPE_CHECKING:
    from torch import nn


def run(
    answer: ModuleType,
    weight: np.ndarray,
    bias: np.ndarray,
    x: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    slope: np.ndarray,
    alpha: float,
    tiles: int = 1,
) -> dict[str, Any]:
    """Returns what the module gives at the start and with given A and B, gradients, and bytes.

    Args:
        answer: the learner's module.
        weight, bias: of the layer.
        x: its input.
        a, b: put into A and B.
        slope: what the backward pass starts from.
        alpha: what the answer's function gets.
        tiles: how often weight, bias, b and slope stand one below the other: a large layer whose
            numbers need not all be sent.
    """
    import torch
    from torch import nn

    bias, b = np.tile(bias, tiles), np.tile(b, (tiles, 1))
    slope = np.tile(slope, (1, tiles))
    outer, inner = len(bias), weight.shape[1]
    linear = nn.Linear(inner, outer, dtype=torch.float64)
    with torch.no_grad():
        linear.weight.view(tiles, -1, inner).copy_(torch.from_numpy(weight))
        linear.bias.copy_(torch.from_numpy(bias))
    module = answer.lora(linear, len(a), alpha)
    if not isinstance(module, nn.Module):
        raise Unusable(f"lora returned {name_of(module)}; a torch.nn.Module is asked for")
    detour: list[nn.Parameter] = []
    for name, shape in (("A", a.shape), ("B", b.shape)):
        each = getattr(module, name, None)
        if not isinstance(each, nn.Parameter) or tuple(each.shape) != shape:
            given = "nothing" if each is None else type(each).__name__
            if isinstance(each, nn.Parameter):
                given = f"a Parameter of shape {tuple(each.shape)}"
            fact = f"{name} of the module is {given}; a Parameter of shape {shape} is asked for"
            raise Unusable(fact, "no-names")
        detour.append(each)
    batch = torch.from_numpy(x)
    with torch.no_grad():
        at_start = module(batch)
    directions = max(_directions(each) for each in detour)
    start_size = max(float(each.detach().square().mean().sqrt()) for each in detour)
    trained = sum(p.numel() for p in module.parameters() if p.requires_grad)
    with torch.no_grad():
        detour[0].copy_(torch.from_numpy(a))
        detour[1].copy_(torch.from_numpy(b))
        peak = measure_peak(lambda: module(batch))
    batch.requires_grad_()
    output = module(batch)
    output.backward(torch.from_numpy(slope))
    if batch.grad is None:
        raise Unusable("a backward pass left x without a gradient", "gradient-of-x")
    return {
        "at_start": at_start.numpy(),
        "trained_numbers": trained,
        "output": output.detach().numpy(),
        "gradient_a": _gradient(detour[0]),
        "gradient_b": _gradient(detour[1]),
        "gradient_x": batch.grad.numpy(),
        "directions": directions,
        "start_size": start_size,
        "peak_bytes": peak.peak_bytes,
    }


def _directions(matrix: nn.Parameter) -> int:
    """Returns the rank, not counting directions a hundred times shorter than the longest."""
    import torch

    return int(torch.linalg.matrix_rank(matrix.detach(), rtol=0.01))


def _gradient(parameter: nn.Parameter) -> np.ndarray:
    if parameter.grad is None:
        raise Unusable("a backward pass left A or B without a gradient")
    return parameter.grad.numpy()

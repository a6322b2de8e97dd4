"""Harness of `forward_gradient`: an estimate along a given direction, its peak, and many draws."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.catalog.harness import Unusable
from gpu_course.training.flat_model import deep_problem
from gpu_course.training.peak import measure_peak


def run(
    answer: ModuleType,
    depth: int,
    width: int,
    rows: int,
    seed: int,
    v: np.ndarray,
    draws: int,
    size: int,
) -> dict[str, Any]:
    """Returns the estimate, the bytes it took, and mean and second moment of many directions."""
    import torch

    loss, point = deep_problem(depth, width, rows, seed)
    given = torch.from_numpy(v.copy())
    peak = measure_peak(lambda: answer.forward_gradient(loss, point, given))
    if not isinstance(peak.value, torch.Tensor):
        raise Unusable(f"forward_gradient returned {type(peak.value).__name__}, not a tensor")
    generator = torch.Generator().manual_seed(seed)
    drawn = [answer.direction(size, generator) for _ in range(draws)]
    if not all(isinstance(each, torch.Tensor) and each.shape == (size,) for each in drawn):
        raise Unusable(f"direction({size}, generator) is to return a tensor of shape ({size},)")
    table = torch.stack(drawn).double()
    return {
        "estimate": peak.value.detach().numpy(),
        "peak_bytes": peak.peak_bytes,
        "mean": table.mean(0).numpy(),
        "second_moment": (table.mT @ table / draws).numpy(),
    }

"""Harness of `k_directions`: builds a loss, and hands over normal directions."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.lessons.forward_gradients.flat_model import deep_problem
from gpu_course.measure.peak import measure_peak
from gpu_course.puzzle.harness import Unusable, name_of


def run(
    answer: ModuleType, depth: int, width: int, rows: int, seed: int, normals: np.ndarray
) -> dict[str, Any]:
    """Returns the answer's estimate of the gradient, and the most bytes it held."""
    import torch

    loss, point = deep_problem(depth, width, rows, seed)
    given = torch.from_numpy(normals.copy())
    before = point.clone()
    peak = measure_peak(lambda: answer.k_directions(loss, point, given))
    if not isinstance(peak.value, torch.Tensor):
        raise Unusable(f"k_directions returned {name_of(peak.value)}, not a tensor")
    for name, now, given_as in (
        ("point", point, before),
        ("normals", given, torch.from_numpy(normals)),
    ):
        if not torch.equal(now, given_as):
            raise Unusable(f"k_directions has changed {name}", "inputs-changed")
    return {"estimate": peak.value.detach().numpy(), "peak_bytes": peak.peak_bytes}

"""Harness of `k_directions`: builds a loss, and hands over normal directions."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.catalog.harness import Unusable
from gpu_course.training.flat_model import deep_problem


def run(
    answer: ModuleType, depth: int, width: int, rows: int, seed: int, normals: np.ndarray
) -> dict[str, Any]:
    """Returns the answer's estimate of the gradient."""
    import torch

    loss, point = deep_problem(depth, width, rows, seed)
    estimate = answer.k_directions(loss, point, torch.from_numpy(normals.copy()))
    if not isinstance(estimate, torch.Tensor):
        raise Unusable(f"k_directions returned {type(estimate).__name__}, not a tensor")
    return {"estimate": estimate.detach().numpy()}

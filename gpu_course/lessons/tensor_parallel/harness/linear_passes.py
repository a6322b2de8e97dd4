"""Harness of `column_linear` and `row_linear`: a forward pass, a barrier, a backward pass.

The barrier parts the two on the wire, where the grader counts.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.puzzle.harness import Unusable


def run(
    answer: ModuleType,
    kind: str,
    x: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray,
    dy: np.ndarray,
) -> dict[str, Any]:
    """Returns y, and the gradients of x, weight and bias.

    Args:
        answer: the learner's module.
        kind: "column" or "row": the answer has KIND_forward and KIND_backward.
        x: input of this rank.
        weight, bias: of this rank.
        dy: gradient of this rank's y.
    """
    import torch
    import torch.distributed as dist

    given = [torch.from_numpy(each) for each in (x, weight, bias, dy)]
    y = getattr(answer, f"{kind}_forward")(*given[:3])
    # A copy, since the backward pass could still change it.
    first = y.clone() if isinstance(y, torch.Tensor) else y
    dist.barrier()
    name = f"{kind}_backward"
    gradients = getattr(answer, name)(given[3], *given[:2])
    dist.barrier()
    if not isinstance(gradients, tuple | list) or len(gradients) != 3:
        said = type(gradients).__name__
        if isinstance(gradients, tuple | list):
            said = f"{len(gradients)} values"
        raise Unusable(f"{name} returned {said}; return (dx, dweight, dbias)")
    return {"y": first, **dict(zip(("dx", "dweight", "dbias"), gradients, strict=True))}

"""Harness of `all_to_all_experts`: a forward pass, a barrier, a backward pass.

The barrier parts the two on the wire, where the grader counts. Where a ValueError is the right
answer there is neither barrier nor backward pass.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.puzzle.harness import Unusable, name_of
from gpu_course.puzzle.harness.refusing import REFUSED

NAMES = ("x", "weights", "up", "down")


def run(
    answer: ModuleType,
    x: np.ndarray,
    experts: np.ndarray,
    weights: np.ndarray,
    held: list[int],
    up: np.ndarray,
    down: np.ndarray,
    dy: np.ndarray,
    refuses: bool,
) -> dict[str, Any]:
    """Returns y, and the gradient "dNAME" of each of NAMES, zeros where none arrives.

    Args:
        answer: the learner's module.
        x, experts, weights, held, up, down: of this rank, as the puzzle has them.
        dy: gradient of this rank's y.
        refuses: True where a ValueError is the right answer; y is its name then.
    """
    import torch
    import torch.distributed as dist

    given = {"x": x, "weights": weights, "up": up, "down": down}
    leaves = {name: torch.from_numpy(each).requires_grad_() for name, each in given.items()}

    def call() -> Any:
        return answer.all_to_all_experts(
            leaves["x"],
            torch.from_numpy(experts),
            leaves["weights"],
            list(held),
            leaves["up"],
            leaves["down"],
        )

    if refuses:
        try:
            return {"y": call()}
        except ValueError:
            return {"y": REFUSED}
    y = call()
    dist.barrier()
    if not isinstance(y, torch.Tensor):
        raise Unusable(f"all_to_all_experts returned {name_of(y)}; a tensor is asked for")
    # A copy, since the backward pass could still change it.
    found: dict[str, Any] = {"y": y.detach().clone()}
    if tuple(y.shape) != dy.shape:
        return found
    if y.requires_grad:
        y.backward(torch.from_numpy(dy))
    dist.barrier()
    for name, leaf in leaves.items():
        found[f"d{name}"] = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
    return found

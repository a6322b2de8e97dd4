"""Harness of `bias_balance`: batch after batch, each with the bias that the last one left."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import torch

from gpu_course.lessons.experts.harness.on_tensors import Operations, Reads
from gpu_course.puzzle.harness import Unusable

_NAMES = ("experts", "weights", "bias")


def run(
    answer: ModuleType,
    logits: list[np.ndarray],
    bias: np.ndarray,
    dweights: list[np.ndarray],
    k: int,
    rate: float,
) -> dict[str, Any]:
    """Returns for each batch "experts", "weights", "bias", "dlogits" and whether bias "carries".

    Beside them "operations", the most of a batch, and "read".

    Args:
        answer: the learner's module.
        logits: of each batch.
        bias: before the first.
        dweights: for each batch the gradient of its weights.
        k, rate: as the puzzle has them.
    """
    found: dict[str, list[Any]] = {name: [] for name in (*_NAMES, "dlogits", "carries")}
    most = read = 0
    now = torch.from_numpy(bias)
    for batch, gradient in zip(logits, dweights, strict=True):
        leaf = torch.from_numpy(batch).requires_grad_()
        with Reads() as reads, Operations() as operations:
            given = now.requires_grad_()
            result = answer.bias_balance(leaf, given, k, rate)
        most, read = max(most, operations.number), read + reads.number
        if not isinstance(result, tuple | list) or len(result) != 3:
            said = type(result).__name__
            if isinstance(result, tuple | list):
                said = f"{len(result)} values"
            raise Unusable(f"bias_balance returned {said}; return (experts, weights, new_bias)")
        for name, value in zip(_NAMES, result, strict=True):
            if not isinstance(value, torch.Tensor):
                said = type(value).__name__
                raise Unusable(f"{name} is of type {said}; a tensor is asked for")
            found[name].append(value.detach().clone())
        _, weights, left = result
        found["carries"].append(left.requires_grad)
        if weights.requires_grad and weights.shape == gradient.shape:
            weights.backward(torch.from_numpy(gradient))
        found["dlogits"].append(torch.zeros_like(leaf) if leaf.grad is None else leaf.grad)
        now = left.detach().clone()
        if now.shape != bias.shape:
            break
    return {**found, "operations": most, "read": read}

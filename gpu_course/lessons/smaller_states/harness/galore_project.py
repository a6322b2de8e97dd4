"""Harness of `galore_project`: looks at the basis and the small gradient, and at their memory."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.measure.peak import bytes_of
from gpu_course.puzzle.harness import Unusable, name_of


def run(answer: ModuleType, gradient: np.ndarray, rank: int, layers: int = 1) -> dict[str, Any]:
    """Returns both shapes, the products of directions, the gradient put together again, and bytes.

    What does not fit together is put together as zeros: the shapes tell the rest.

    Args:
        answer: the learner's module.
        gradient, rank: what its function gets.
        layers: how many gradients there are, of which this one is the last; what the answer returns
            for the others is kept, as in training.
    """
    import torch

    given = torch.from_numpy(gradient)
    kept = [answer.galore_project(given.roll(layer + 1, 1), rank) for layer in range(layers - 1)]
    found = answer.galore_project(given, rank)
    del kept
    if not (isinstance(found, tuple) and len(found) == 2):
        fact = f"galore_project returned {name_of(found)}; (basis, small) is asked for"
        raise Unusable(fact, "no-pair")
    basis, small = found
    for name, each in (("basis", basis), ("small", small)):
        if not isinstance(each, torch.Tensor) or each.ndim != 2:
            raise Unusable(f"{name} is no tensor with two sides", "no-pair")
    rows, columns = given.shape
    restored = torch.zeros_like(given)
    if basis.shape == (rows, rank) and small.shape == (rank, columns):
        restored = basis @ small
    elif basis.shape == (columns, rank) and small.shape == (rows, rank):
        restored = small @ basis.mT
    return {
        "basis_shape": list(basis.shape),
        "small_shape": list(small.shape),
        "products": (basis.mT @ basis).numpy(),
        "restored": restored.numpy(),
        "bytes": bytes_of(basis, small),
    }

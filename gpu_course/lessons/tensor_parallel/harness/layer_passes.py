"""Harness of layers that autograd differentiates: a forward pass, a barrier, a backward pass.

The barrier parts the two on the wire, where the grader counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.puzzle.harness import Unusable, name_of


def run(
    answer: ModuleType, function: str, names: Sequence[str], dy: np.ndarray, **given: np.ndarray
) -> dict[str, Any]:
    """Returns what `both_passes` gives of a function of the answer.

    Args:
        answer: the learner's module.
        function: its name.
        names: what it takes, in order.
        dy: gradient of its result.
        given: the arrays by their names.
    """
    call = getattr(answer, function)
    return both_passes(function, call, {name: given[name] for name in names}, dy)


def both_passes(
    function: str, call: Callable[..., Any], given: Mapping[str, np.ndarray], dy: np.ndarray
) -> dict[str, Any]:
    """Returns y; the gradient "dNAME" of all that is given; and the bytes kept in between.

    Kept bytes are those of storages that autograd saved, each once, without what was given; the
    first that was given, the layer's input, counts as well. The gradients are left out where y has
    another shape than its own gradient.

    Args:
        function: how messages call it.
        call: it.
        given: what it is called with, in order.
        dy: gradient of y.
    """
    import torch
    import torch.distributed as dist

    leaves = {name: torch.from_numpy(each).requires_grad_() for name, each in given.items()}
    weights = {each.untyped_storage()._cdata for each in list(leaves.values())[1:]}
    kept: dict[int, Any] = {}

    def pack(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        if storage._cdata not in weights:
            # The storage is held, so that no other can take its number.
            kept[storage._cdata] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        y = call(*leaves.values())
    kept_bytes = sum(storage.nbytes() for storage in kept.values())
    dist.barrier()
    if not isinstance(y, torch.Tensor):
        raise Unusable(f"{function} returned {name_of(y)}; a tensor is asked for")
    # A copy, since the backward pass could still change it.
    found: dict[str, Any] = {"y": y.detach().clone(), "kept_bytes": kept_bytes}
    if tuple(y.shape) != dy.shape:
        return found
    if y.requires_grad:
        y.backward(torch.from_numpy(dy))
    dist.barrier()
    for name, leaf in leaves.items():
        if leaf.grad is None:
            fact = f"no gradient of y arrives at {name}"
            raise Unusable(fact, "no-gradient")
        found[f"d{name}"] = leaf.grad
    return found

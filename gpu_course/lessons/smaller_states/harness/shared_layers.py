"""Harness of `shared_layers`: runs the stack, and weighs parameters, gradients and states."""

from __future__ import annotations

from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.lessons.smaller_states.galore import adam_direction
from gpu_course.lessons.smaller_states.shared_problem import make_layer
from gpu_course.measure.peak import bytes_of, measure_peak
from gpu_course.puzzle.harness import Unusable, name_of

if TYPE_CHECKING:
    import torch


def run(answer: ModuleType, layers: int, x: np.ndarray, seed: int) -> dict[str, Any]:
    """Returns output, gradient, and the bytes of parameters, of Adam's states, and kept ones."""
    import torch
    from torch import nn

    # Every layer begins with the same numbers: what differs is whose they are.
    stack = answer.shared_layers(partial(make_layer, x.shape[1], seed), layers)
    if not isinstance(stack, nn.Module):
        raise Unusable(f"shared_layers returned {name_of(stack)}; a torch.nn.Module is asked for")
    batch = torch.from_numpy(x)
    parameters = list(stack.parameters())
    if not parameters:
        raise Unusable("the module has no parameters", "no-parameters")
    forward = measure_peak(lambda: stack(batch))
    output = forward.value
    output.sum().backward()
    gradients = [p.grad for p in parameters if p.grad is not None]
    # PyTorch's own optimizers import at their first use what a closed process cannot open.
    states = [dict[str, Any]() for _ in gradients]
    for gradient, state in zip(gradients, states, strict=True):
        adam_direction(gradient, state)
    return {
        "parameter_bytes": bytes_of(*parameters),
        "output": output.detach().numpy(),
        "gradient": _added(gradients, len(list(make_layer(x.shape[1], seed).parameters()))),
        "state_bytes": bytes_of(*(value for state in states for value in state.values())),
        "kept_bytes": forward.left_bytes,
    }


def _added(gradients: list[torch.Tensor], per_layer: int) -> np.ndarray:
    """Returns the gradients of one layer, added up where there are more of them."""
    sets = [gradients[start : start + per_layer] for start in range(0, len(gradients), per_layer)]
    return sum(np.concatenate([g.numpy().ravel() for g in each]) for each in sets)  # type: ignore[return-value]

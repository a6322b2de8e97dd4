"""What a model and its optimizer hold between two steps, counted from the tensors themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from gpu_course.measure.peak import bytes_of


def held(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, int]:
    """Returns {kind: bytes} of parameters, gradients and optimizer states, each storage once.

    Args:
        model: its buffers count as parameters.
        optimizer: any whose `state` holds tensors by parameter.

    >>> layer = nn.Linear(3, 5, bias=False)
    >>> held(layer, torch.optim.Adam(layer.parameters()))
    {'parameters': 60, 'optimizer states': 0, 'gradients': 0}
    """
    states = [value for state in optimizer.state.values() for value in state.values()]
    return {
        "parameters": bytes_of(*model.parameters(), *model.buffers()),
        "optimizer states": bytes_of(*states),
        "gradients": bytes_of(*(parameter.grad for parameter in model.parameters())),
    }


def state_numbers(make: Callable[..., Any], rows: int, columns: int) -> dict[str, int]:
    """Returns {name: numbers} of what an optimizer holds for one matrix after its first step.

    Args:
        make: a class of torch.optim; counters of steps are left out.
        rows, columns: of the matrix.

    >>> state_numbers(torch.optim.Adam, 3, 5)
    {'exp_avg': 15, 'exp_avg_sq': 15}
    """
    matrix = nn.Parameter(torch.zeros(rows, columns))
    matrix.grad = torch.ones_like(matrix)
    optimizer = make([matrix])
    optimizer.step()
    return {
        name: value.numel()
        for name, value in optimizer.state[matrix].items()
        if isinstance(value, torch.Tensor) and value.dim()
    }

"""What a model and its optimizer hold between two steps, counted from the tensors themselves."""

from __future__ import annotations

import torch
from torch import nn

from gpu_course.training.peak import bytes_of


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

"""Adam on float32 copies of narrow parameters, as mixed-precision training does it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import nn

from gpu_course.measure.peak import bytes_of


class MasterAdam:
    """Adam that updates a float32 copy of each parameter, and copies the result back.

    Args:
        parameters: of any floating dtype.
        rate: the learning rate.

    Source: Micikevicius et al. 2018, arXiv 1710.03740, section 3.1.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], rate: float = 1e-3) -> None:
        self.parameters = list(parameters)
        self.copies = [parameter.detach().float().clone() for parameter in self.parameters]
        self.adam = torch.optim.Adam(self.copies, lr=rate)

    def step(self) -> None:
        """Updates the copies by the parameters' gradients, then the parameters by the copies."""
        for parameter, copy in zip(self.parameters, self.copies, strict=True):
            copy.grad = None if parameter.grad is None else parameter.grad.float()
        self.adam.step()
        for parameter, copy in zip(self.parameters, self.copies, strict=True):
            copy.grad = None
            parameter.data.copy_(copy)


def measure_states(
    shapes: Sequence[Sequence[int]], weight_bytes: int, master: bool
) -> tuple[int, int]:
    """Returns (bytes before the first update, bytes that the first update adds), measured.

    Real parameters with real gradients are given to a real Adam, and what it holds is counted.

    Args:
        shapes: of the parameters.
        weight_bytes: 4 for float32, 2 for bfloat16.
        master: True for Adam on float32 copies.
    """
    dtype = torch.float32 if weight_bytes == 4 else torch.bfloat16
    parameters = [nn.Parameter(torch.ones(shape, dtype=dtype)) for shape in shapes]
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    optimizer = MasterAdam(parameters) if master else torch.optim.Adam(parameters)
    copies = optimizer.copies if isinstance(optimizer, MasterAdam) else []
    adam = optimizer.adam if isinstance(optimizer, MasterAdam) else optimizer
    before = bytes_of(*parameters, *(p.grad for p in parameters), *copies)
    optimizer.step()
    states = [value for state in adam.state.values() for value in state.values()]
    return before, bytes_of(*states)

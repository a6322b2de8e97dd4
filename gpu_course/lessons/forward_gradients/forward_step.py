"""A training step without a backward pass, in a form that the memory ledger can keep books of."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.func import functional_call, jvp

import gpu_course.lessons.forward_gradients.tangent_rules  # noqa: F401 (before the first jvp)


class Estimate:
    """What stands in the place of a loss: its `backward` is a product, and no pass.

    Args:
        value: the loss.
        slope: along the direction.
        model: whose parameters get a gradient.
        direction: {parameter: direction}.
    """

    def __init__(
        self, value: Tensor, slope: Tensor, model: nn.Module, direction: dict[str, Tensor]
    ) -> None:
        self.value = value
        self.slope = slope
        self._model = model
        self._direction = direction

    @torch.no_grad()
    def backward(self) -> None:
        """Gives each parameter its part of the forward gradient, in the direction's memory."""
        for name, parameter in self._model.named_parameters():
            parameter.grad = self._direction.pop(name).mul_(self.slope)


class ForwardStep(nn.Module):
    """A model whose forward pass carries the tangent along, and keeps nothing for a way back.

    Args:
        model: any module without state of its own that changes.
        loss: takes what the model gives, and returns a number.
        seed: of the directions, which are normal numbers.
    """

    def __init__(self, model: nn.Module, loss: Callable[[Tensor], Tensor], seed: int = 0) -> None:
        super().__init__()
        self.model = model
        self.loss = loss
        self._generator = torch.Generator().manual_seed(seed)

    def forward(self, x: Tensor) -> Estimate:
        """Returns the loss of a batch and its slope along a new direction."""
        parameters = {name: p.detach() for name, p in self.model.named_parameters()}
        direction = {
            name: torch.randn(p.shape, generator=self._generator, dtype=p.dtype)
            for name, p in parameters.items()
        }

        def of(named: dict[str, Tensor]) -> Tensor:
            return self.loss(functional_call(self.model, named, (x,)))

        with torch.no_grad():  # no graph: nothing is kept for a pass that never comes
            found = jvp(of, (parameters,), (direction,))
        return Estimate(found[0], found[1], self.model, direction)

"""Moments in eight bits: a code of one byte per number, and one scale for each block of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from gpu_course.lessons.smaller_states.galore import BETAS, corrected

LEVELS = 127
"""The largest code; the smallest is its opposite."""
BLOCK = 256
"""How many numbers share a scale, unless it is said otherwise."""


def quantise(values: Tensor, block: int, power: int = 1) -> tuple[Tensor, Tensor]:
    """Returns (codes, scales): 127 times the power-th root of each number over its block's largest.

    Args:
        values: float32 of any shape.
        block: numbers, in the order of the memory, that share a scale; the last block may be
            shorter.
        power: 1 spreads the codes evenly; with a larger power they lie closer near zero.

    Returns:
        codes: int8, one for each number, in one row. scales: float32, the largest size in each
        block.

    >>> codes, scales = quantise(torch.tensor([0.5, -2.0, 0.0, 0.0, 3.0]), block=2)
    >>> codes.tolist(), scales.tolist()
    ([32, -127, 0, 0, 127], [2.0, 0.0, 3.0])

    Source: blocks with a scale each: Dettmers et al. 2022, arXiv 2110.02861, section 2.1. Their
    codes are not powers but a table ("dynamic tree quantization") with the same aim.
    """
    flat = values.detach().flatten()
    block = min(block, max(len(flat), 1))  # a small tensor is one block, and not padded far
    blocks = functional.pad(flat, (0, -len(flat) % block)).view(-1, block)
    scales = blocks.abs().amax(1)
    # A block of zeros has no largest number to divide by: any scale gives code 0.
    shares = blocks / scales.where(scales > 0, 1.0)[:, None]
    codes = (LEVELS * shares.abs() ** (1 / power)).round() * shares.sign()
    return codes.to(torch.int8).flatten()[: len(flat)].clone(), scales


def dequantise(codes: Tensor, scales: Tensor, block: int, power: int = 1) -> Tensor:
    """Returns the numbers behind codes and scales, in one row of float32.

    Args:
        codes, scales: of `quantise`.
        block, power: as they were there.

    >>> dequantise(*quantise(torch.tensor([0.5, -2.0, 3.0]), block=2), block=2).tolist()
    [0.5039370059967041, -2.0, 3.0]
    """
    shares = codes.float() / LEVELS
    values = shares.sign() * shares.abs() ** power
    block = min(block, max(len(codes), 1))
    return values * scales.repeat_interleave(block)[: len(codes)]


class Adam8(torch.optim.Optimizer):
    """Adam whose two moments are held in eight bits between updates.

    Args:
        parameters: what is trained.
        rate: the learning rate.
        block: numbers that share a scale.
        powers: of the codes of the first and the second moment.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        *,
        rate: float = 1e-2,
        block: int = BLOCK,
        powers: tuple[int, int] = (2, 4),
    ) -> None:
        super().__init__(list(parameters), {"rate": rate, "block": block, "powers": powers})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Updates every parameter that has a gradient."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._update(parameter, group)

    def _update(self, parameter: nn.Parameter, group: dict[str, Any]) -> None:
        gradient, state = parameter.grad, self.state[parameter]
        assert gradient is not None
        first = self._moment("first", state, gradient, group, 0)
        second = self._moment("second", state, gradient.square(), group, 1)
        state["step"] = state.get("step", 0) + 1
        parameter.sub_(group["rate"] * corrected(first, second, state["step"]))

    def _moment(
        self, name: str, state: dict[str, Any], new: Tensor, group: dict[str, Any], which: int
    ) -> Tensor:
        """Returns a moment brought on by `new`, and keeps it in eight bits."""
        block, power = group["block"], group["powers"][which]
        if f"{name} codes" in state:
            codes, scales = state[f"{name} codes"], state[f"{name} scales"]
            moment = dequantise(codes, scales, block, power).view_as(new)
        else:
            moment = torch.zeros_like(new)
        moment = moment.lerp(new, 1 - BETAS[which])
        state[f"{name} codes"], state[f"{name} scales"] = quantise(moment, block, power)
        return moment

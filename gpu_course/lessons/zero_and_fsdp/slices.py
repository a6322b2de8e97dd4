"""ZeRO's stages 0 to 3 on real ranks: who holds which slice, what is sent, what is held.

A model is a list of units, each a function of its flat weights (`units`). All
stages share one cut: each unit's weights are filled up with zeros and cut into equal slices. A
stage says which of states, gradients and weights a rank keeps whole.

Source: Rajbhandari and others 2019, "ZeRO: Memory Optimizations Toward Training Trillion Parameter
Models", section 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional


class Part(Protocol):
    """A unit of a model, as `units.Unit` is one."""

    length: int

    def forward(self, weights: Tensor, x: Tensor) -> Tensor:
        """Returns what the unit makes of x."""

    def backward(
        self, weights: Tensor, x: Tensor, gradient: Tensor
    ) -> tuple[Tensor | None, Tensor]:
        """Returns the gradients of x and of the weights."""


@dataclass(frozen=True)
class Adam:
    """The numbers of Adam; a large epsilon keeps the noise of a gradient of zero small."""

    rate: float = 0.01
    beta_1: float = 0.9
    beta_2: float = 0.99
    epsilon: float = 0.01


@dataclass
class Zero:
    """A model's weights, gradients and states on one rank, in a stage of ZeRO.

    Args:
        units: of the model; their last y is the loss.
        weights: for each unit its weights, (length,), the same on all ranks.
        stage: 0 to 3.
        narrow: dtype of weights and gradients.
        wide: dtype of the states: a copy of the weights, m and v.
        group: the ranks; default all.

    Attributes:
        held: {kind: bytes} while the gradients of the latest step were there.
    """

    units: Sequence[Part]
    weights: Sequence[Tensor]
    stage: int
    narrow: torch.dtype = torch.float64
    wide: torch.dtype = torch.float64
    adam: Adam = field(default_factory=Adam)
    group: Any = None
    held: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._n, self._r = dist.get_world_size(self.group), dist.get_rank(self.group)
        wide = [weights.to(self.wide) for weights in self.weights]
        self._states = [
            [part.clone(), torch.zeros_like(part), torch.zeros_like(part)]
            for part in (self._own(each, from_stage=1) for each in wide)
        ]
        self._kept = [
            self._own(each, from_stage=3).to(self.narrow, copy=True) for each in self.weights
        ]
        self._steps = 0
        self.weights = ()

    def step(self, x: Tensor) -> Tensor:
        """Takes a training step with the mean gradient of all ranks; returns this rank's loss.

        Args:
            x: what goes into the first unit.
        """
        inputs, last = [], len(self.units) - 1
        for k, unit in enumerate(self.units):
            inputs.append(x)
            x = unit.forward(self._whole(k), x)
        loss, gradient = x, torch.ones_like(x)
        gradients: list[Tensor] = [x] * len(self.units)
        for k in range(last, -1, -1):
            further, of_weights = self.units[k].backward(self._whole(k), inputs[k], gradient)
            gradients[k] = self._reduced(of_weights)
            gradient = gradient if further is None else further
        self.held = {
            "weights": _bytes(self._kept),
            "gradients": _bytes(gradients),
            "states": _bytes([each for states in self._states for each in states]),
        }
        self._steps += 1
        for k, each in enumerate(gradients):
            self._update(k, each)
        return loss

    def states(self, k: int) -> tuple[Tensor, ...]:
        """Returns a unit's copy of the weights, m and v, as this rank holds them."""
        return tuple(self._states[k])

    def all_weights(self) -> Tensor:
        """Returns the weights of all units behind each other; every rank has to ask."""
        return torch.cat([self._whole(k) for k in range(len(self.units))])

    def _own(self, whole: Tensor, from_stage: int) -> Tensor:
        """Returns this rank's slice from a stage on, and all of it before."""
        if self.stage < from_stage:
            return whole
        return self._filled(whole).chunk(self._n)[self._r]

    def _filled(self, whole: Tensor) -> Tensor:
        return functional.pad(whole, (0, -len(whole) % self._n))

    def _whole(self, k: int) -> Tensor:
        """Returns a unit's weights, gathered where a rank has a slice of them."""
        if self.stage < 3:
            return self._kept[k]
        return self._gathered(self._kept[k])[: self.units[k].length]

    def _gathered(self, mine: Tensor) -> Tensor:
        everything = mine.new_empty(self._n * len(mine))
        dist.all_gather_single(everything, mine, group=self.group)
        return everything

    def _reduced(self, gradient: Tensor) -> Tensor:
        """Returns the mean gradient as the stage leaves it: whole, not yet summed, or a slice."""
        if self.stage == 0:
            dist.all_reduce(gradient, group=self.group)
            return gradient / self._n
        return gradient if self.stage == 1 else self._scattered(gradient)

    def _scattered(self, gradient: Tensor) -> Tensor:
        filled = self._filled(gradient)
        mine = filled.new_empty(len(filled) // self._n)
        dist.reduce_scatter_single(mine, filled, group=self.group)
        return mine / self._n

    def _update(self, k: int, gradient: Tensor) -> None:
        if self.stage == 1:
            gradient = self._scattered(gradient)
        master, m, v = self._states[k]
        gradient, a = gradient.to(self.wide), self.adam
        m.mul_(a.beta_1).add_(gradient, alpha=1 - a.beta_1)
        v.mul_(a.beta_2).addcmul_(gradient, gradient, value=1 - a.beta_2)
        m_hat, v_hat = m / (1 - a.beta_1**self._steps), v / (1 - a.beta_2**self._steps)
        master -= a.rate * m_hat / (v_hat.sqrt() + a.epsilon)
        narrow = master.to(self.narrow)
        if self.stage in (1, 2):
            narrow = self._gathered(narrow)[: self.units[k].length]
        self._kept[k].copy_(narrow)


def _bytes(tensors: Sequence[Tensor]) -> int:
    """Returns the bytes of the storages, each counted once."""
    storages = {each.untyped_storage().data_ptr(): each.untyped_storage() for each in tensors}
    return sum(storage.nbytes() for storage in storages.values())


def steps_of(
    units: Sequence[Part], weights: Sequence[Tensor], x: Tensor, stage: int, steps: int, **more: Any
) -> tuple[Tensor, dict[str, int]]:
    """Returns all weights after some steps, and what was held in the last one.

    Args:
        units, weights, stage: of the model.
        x: this rank's batch, the same in each step.
        steps: how many.
        more: `narrow`, `wide` and what else a Zero takes.
    """
    zero = Zero(units, weights, stage, **more)
    for _ in range(steps):
        zero.step(x)
    return zero.all_weights(), zero.held

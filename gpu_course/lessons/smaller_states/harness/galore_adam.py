"""Harness of `galore_adam`: makes the updates one after the other, and weighs the state."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.lessons.smaller_states.projection import main_directions
from gpu_course.measure.peak import bytes_of

if TYPE_CHECKING:
    from torch import Tensor


def run(
    answer: ModuleType,
    weight: np.ndarray,
    gradients: np.ndarray,
    rank: int,
    refresh: int,
    rate: float,
    scale: float,
    others: int = 1,
) -> dict[str, Any]:
    """Returns the weight after all updates, how often directions were chosen, and bytes of state.

    Every update gets the same weight and the same state, and a gradient of its own. Afterwards
    other weights with states of their own go the same way, as in a model with many; their states
    are handed on in a new dict each time, as one that was saved and read back.

    Args:
        answer: the learner's module.
        weight, gradients: of the training.
        rank, refresh, rate, scale: what the answer's function gets.
        others: how many other weights; their states are all kept.
    """
    import torch

    chosen = 0

    def project(gradient: Tensor) -> Tensor:
        nonlocal chosen
        chosen += 1
        return main_directions(gradient, rank)

    def train(*, saved: bool = False) -> tuple[Tensor, dict[str, Any]]:
        trained, state = torch.from_numpy(weight.copy()), dict[str, Any]()
        for gradient in gradients:
            given = torch.from_numpy(gradient.copy())
            answer.galore_adam(trained, given, state, project, refresh, rate, scale)
            state = dict(state) if saved else state
        return trained, state

    trained, state = train()
    projections = chosen
    states = []
    for _ in range(others):
        another, other_state = train(saved=True)
        states.append(other_state)
    return {
        "projections": projections,
        "weight": trained.numpy(),
        "weight_of_another": another.numpy(),
        "state_bytes": bytes_of(*_tensors(state)),
    }


def _tensors(value: Any) -> Iterator[Tensor]:
    import torch

    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _tensors(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _tensors(each)

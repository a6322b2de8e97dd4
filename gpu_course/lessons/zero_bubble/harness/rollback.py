"""Harness of `rollback`: optimizer steps of one rank, and marks where each of them is taken."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gpu_course.ranks.wire import mark

STEP, BEGINS = 1, 2
"""Marks: optimizer.step() is called; the answer is called."""


def run(
    answer: ModuleType,
    sizes: list[int],
    weights: np.ndarray,
    gradients: np.ndarray,
    limit: float,
    adam: dict[str, float],
) -> dict[str, Any]:
    """Returns what each call of the answer left behind: weights, moments and the count of steps.

    Args:
        answer: the learner's module.
        sizes: of the rank's parameters.
        weights: (numbers,) float64, of all of them.
        gradients: (calls, numbers) float64.
        limit: of the norm.
        adam: rate, beta_1, beta_2, epsilon, decay.
    """
    found = []
    parameters, optimizer = trained(sizes, weights, adam)
    optimizer.register_step_pre_hook(lambda *_: mark(STEP))
    for given in gradients:
        for parameter, part in zip(parameters, torch.from_numpy(given).split(sizes), strict=True):
            parameter.grad = part.clone()
        mark(BEGINS)
        answer.rollback(list(parameters), optimizer, limit)
        found.append(values(parameters, optimizer))
    return {"result": np.stack(found)}


def trained(
    sizes: list[int], weights: np.ndarray, adam: dict[str, float]
) -> tuple[list[nn.Parameter], torch.optim.AdamW]:
    """Returns a rank's parameters, and the optimizer over them."""
    parts = torch.from_numpy(weights).split(sizes)
    parameters = [nn.Parameter(part.clone()) for part in parts]
    optimizer = torch.optim.AdamW(
        parameters,
        lr=adam["rate"],
        betas=(adam["beta_1"], adam["beta_2"]),
        eps=adam["epsilon"],
        weight_decay=adam["decay"],
    )
    return parameters, optimizer


def values(parameters: list[nn.Parameter], optimizer: torch.optim.AdamW) -> np.ndarray:
    """Returns weights, first and second moments, one after the other, and counts of steps last.

    A parameter without a state has taken no step: its moments are 0.
    """

    def of(name: str, parameter: Tensor) -> Tensor:
        found = optimizer.state.get(parameter, {}).get(name)
        return torch.zeros_like(parameter) if found is None else torch.as_tensor(found).double()

    parts = [each.detach() for each in parameters]
    parts += [of("exp_avg", each) for each in parameters]
    parts += [of("exp_avg_sq", each) for each in parameters]
    parts += [of("step", each).flatten()[:1] for each in parameters]
    return torch.cat([each.flatten() for each in parts]).numpy().copy()

"""Harness of `diloco`: a model and batches on each rank, and the weights that it ends with."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import torch

from gpu_course.lessons.across_oceans.islands import flat, island, loss_of


def run(
    answer: ModuleType,
    widths: list[int],
    weights: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    h: int,
    inner: dict[str, Any],
    rate: float,
    momentum: float,
) -> dict[str, Any]:
    """Returns {"weights": of this rank after all rounds}.

    Args:
        answer: the learner's module.
        widths, weights: of the model, as `island` takes them.
        x, y: (batches, rows, width) float64, of this rank.
        h, inner, rate, momentum: as the puzzle has them.
    """
    model = island(widths, weights)
    batches = list(zip(torch.from_numpy(x.copy()), torch.from_numpy(y.copy()), strict=True))
    betas = {"betas": tuple(inner["betas"])}
    answer.diloco(model, batches, loss_of, h, dict(inner) | betas, rate, momentum)
    return {"weights": flat(model)}

"""Harness of `dynamic_loss_scaler`: calls it step after step, with what fp16 left of gradients."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.puzzle.harness import Unusable


def scaled(gradient: np.ndarray, scale: float) -> np.ndarray:
    """Returns a gradient of a scaled loss as fp16 holds it: too much is infinite, too little 0."""
    with np.errstate(all="ignore"):
        found: np.ndarray = (gradient * scale).astype(np.float16)
    return found


def run(
    answer: ModuleType,
    steps: list[list[np.ndarray]],
    scale: float,
    growth: float,
    backoff: float,
    interval: int,
) -> dict[str, Any]:
    """Returns for each step the gradients to step by, or None, and the scale after it."""
    streak: Any = 0
    taken: list[Any] = []
    scales: list[float] = []
    for tensors in steps:
        gradients = [scaled(tensor, scale) for tensor in tensors]
        result = answer.dynamic_loss_scaler(gradients, scale, streak, growth, backoff, interval)
        if not isinstance(result, tuple) or len(result) != 3:
            raise Unusable("dynamic_loss_scaler returned no tuple of three: (step, scale, streak)")
        step, scale, streak = result
        if isinstance(scale, bool) or not isinstance(scale, (int, float, np.floating)):
            raise Unusable("the scale that came back is no number")
        scale = float(scale)
        if step is not None and not (
            isinstance(step, (list, tuple)) and all(isinstance(g, np.ndarray) for g in step)
        ):
            raise Unusable("step is neither None nor a list of arrays")
        taken.append(None if step is None else [np.asarray(g, np.float64) for g in step])
        scales.append(scale)
    return {"taken": taken, "scales": scales}

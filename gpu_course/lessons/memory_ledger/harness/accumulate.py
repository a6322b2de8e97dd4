"""Harness of `accumulate`: runs it on a real model; the gradient, the memory, the model itself."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from gpu_course.lessons.memory_ledger.accumulation import flat_gradient, flat_parameters, problem
from gpu_course.measure.peak import allocate_gradients, measure_peak
from gpu_course.puzzle.harness import Unusable


def run(answer: ModuleType, rows: int, parts: int, width: int, seed: int) -> dict[str, Any]:
    """Returns the gradient left in the model, and the peak bytes above model, gradient and batch.

    The gradients' places are there beforehand, filled with zeros, as after the first step. Beside
    these: whether the parameters are still what they were.
    """
    model, loss, x, y = problem(rows, width, seed)
    allocate_gradients(model)
    before = flat_parameters(model)
    peak = measure_peak(lambda: answer.accumulate(model, loss, x, y, parts))
    gradient = flat_gradient(model)
    if gradient is None:
        raise Unusable("accumulate left a parameter without a gradient", "no-gradient")
    return {
        "gradient": gradient.numpy(),
        "peak_bytes": peak.peak_bytes,
        "same_model": flat_parameters(model).equal(before),
    }

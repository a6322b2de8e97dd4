"""Harness of a function on ranks: calls it with tensors, and weighs what it holds."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.measure.peak import measure_peak


def run(
    answer: ModuleType, function: str, measured: bool, refuses: bool = False, **inputs: Any
) -> dict[str, Any]:
    """Returns {"result": ...}, and "peak_bytes" where that is asked for.

    Args:
        answer: the learner's module.
        function: what is called.
        measured: True to count the bytes that are alive at one time.
        refuses: True where a ValueError is the right answer; the result is its name then.
        inputs: arrays, which become tensors over the same memory, and plain values.
    """
    given = {name: _tensor(value) for name, value in inputs.items()}
    call = getattr(answer, function)
    if refuses:
        try:
            return {"result": call(**given)}
        except ValueError:
            return {"result": "ValueError"}
    if not measured:
        return {"result": call(**given)}
    peak = measure_peak(lambda: call(**given))
    return {"result": peak.value, "peak_bytes": peak.peak_bytes}


def _tensor(value: Any) -> Any:
    import torch

    if isinstance(value, np.ndarray):
        return torch.from_numpy(value)
    if isinstance(value, list | tuple):
        return type(value)(map(_tensor, value))
    return value

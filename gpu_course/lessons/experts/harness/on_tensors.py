"""Harness of a function of tensors: counts operations, what is read out of tensors, and bytes."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from gpu_course.measure.peak import measure_peak
from gpu_course.puzzle.harness.refusing import REFUSED

FEW = 8
"""So many numbers may be read out of a tensor at once."""
_READS = ("tolist", "numpy", "__array__", "__dlpack__")


class Operations(TorchDispatchMode):
    """Counts operations that do some work: a view is none."""

    def __init__(self) -> None:
        super().__init__()
        self.number = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.number += not func.is_view
        return func(*args, **(kwargs or {}))


class Reads(TorchFunctionMode):
    """Counts numbers that are read out of tensors with more than a few of them."""

    def __init__(self) -> None:
        super().__init__()
        self.number = 0

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if getattr(func, "__name__", "") in _READS and args[0].numel() > FEW:
            self.number += args[0].numel()
        return func(*args, **(kwargs or {}))


def run(answer: ModuleType, function: str, refuses: bool, **inputs: Any) -> dict[str, Any]:
    """Returns {"result": ...} with "operations", "read" and "peak_bytes".

    Args:
        answer: the learner's module.
        function: what is called.
        refuses: True where a ValueError is the right answer; the result is its name then.
        inputs: arrays, which become tensors over the same memory, and plain values.
    """
    given = {
        name: torch.from_numpy(value) if isinstance(value, np.ndarray) else value
        for name, value in inputs.items()
    }
    call = getattr(answer, function)
    if refuses:
        try:
            return {"result": call(**given)}
        except ValueError:
            return {"result": REFUSED}
    with Reads() as reads, Operations() as operations:
        result = call(**given)
    peak = measure_peak(lambda: call(**given))
    return {
        "result": result,
        "operations": operations.number,
        "read": reads.number,
        "peak_bytes": peak.peak_bytes,
    }

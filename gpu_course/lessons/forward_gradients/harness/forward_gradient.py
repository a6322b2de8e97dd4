"""Harness of `forward_gradient`: an estimate along a given direction, its peak, and many draws."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.lessons.forward_gradients.flat_model import deep_problem
from gpu_course.measure.peak import measure_peak
from gpu_course.puzzle.harness import Unusable, name_of


def run(
    answer: ModuleType,
    depth: int,
    width: int,
    rows: int,
    seed: int,
    v: np.ndarray,
    draws: int,
    size: int,
) -> dict[str, Any]:
    """Returns the estimate, the bytes it took, and what is known of many directions.

    These are their second moment, the standard error of their mean square, and whether the same
    generator gives the same one again.
    """
    import torch

    loss, point = deep_problem(depth, width, rows, seed)
    given = torch.from_numpy(v.copy())
    before = point.clone()
    peak = measure_peak(lambda: answer.forward_gradient(loss, point, given))
    if not isinstance(peak.value, torch.Tensor):
        raise Unusable(f"forward_gradient returned {name_of(peak.value)}, not a tensor")
    for name, now, given_as in (("point", point, before), ("v", given, torch.from_numpy(v))):
        if not torch.equal(now, given_as):
            raise Unusable(f"forward_gradient has changed {name}", "inputs-changed")
    generator = torch.Generator().manual_seed(seed)
    drawn = [answer.direction(size, generator) for _ in range(draws)]
    for each in drawn:
        if not isinstance(each, torch.Tensor) or each.shape != (size,):
            own = isinstance(each, torch.Tensor)
            what = f"shape {tuple(each.shape)}" if own else name_of(each)
            fact = f"direction({size}, generator) returned {what}; a tensor of shape ({size},)"
            raise Unusable(f"{fact} is asked for", "no-vector")
    table = torch.stack(drawn).double()
    one, other = (answer.direction(size, torch.Generator().manual_seed(seed)) for _ in range(2))
    return {
        "estimate": peak.value.detach().numpy(),
        "peak_bytes": peak.peak_bytes,
        "second_moment": (table.mT @ table / draws).numpy(),
        "standard_error": float((table**2).mean(dim=1).std() / draws**0.5),
        "repeats": bool(torch.equal(one, other)),
    }

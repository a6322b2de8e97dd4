"""A schedule followed on real modules, with what is compared and what is measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from gpu_course.measure.peak import allocate_gradients, measure_peak
from gpu_course.measure.schedules.execute import execute
from gpu_course.measure.schedules.operations import Schedule


def follow(
    modules: Sequence[nn.Module], batch: Tensor, schedule: Schedule, seed: int
) -> dict[str, Any]:
    """Returns what following a schedule left behind and took: values, forward passes, peak.

    Args:
        modules: stages whose gradients are set to 0 first.
        batch: what the first stage gets.
        schedule: as `operations.account` accepts it.
        seed: of the random numbers drawn on the way.
    """
    passes: Counter[int] = Counter()
    for number, module in enumerate(modules):
        module.register_forward_pre_hook(lambda m, i, number=number: passes.update([number]))
        allocate_gradients(module)
    state = torch.get_rng_state()
    torch.manual_seed(seed)
    peak = measure_peak(lambda: execute(modules, batch, schedule))
    counted = [passes[number] for number in range(len(modules))]
    gradients = [p.grad for m in modules for p in m.parameters() if p.grad is not None]
    buffers = [b.double() for m in modules for b in m.buffers()]
    torch.set_rng_state(state)
    return {
        "loss": peak.value,
        "gradients": torch.cat([gradient.flatten() for gradient in gradients]).numpy(),
        "buffers": torch.cat([b.flatten() for b in buffers]).numpy() if buffers else None,
        "peak_bytes": peak.peak_bytes,
        "forward_passes": counted,
    }

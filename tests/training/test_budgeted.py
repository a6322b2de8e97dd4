"""A chain under torch.compile with a memory budget: the same gradient, less memory, more FLOP."""

from __future__ import annotations

import torch

from gpu_course.training.budgeted import run_budgeted
from gpu_course.training.chains import equal_stages
from gpu_course.training.schedules.execute import plain


def test_a_smaller_budget_takes_less_memory_and_more_flop_for_the_same_gradient() -> None:
    stages, batch = equal_stages(4, rows=128, width=32)
    plain(stages, batch)
    expected = torch.cat([p.grad.flatten() for stage in stages for p in stage.parameters()])
    all_kept, least = (run_budgeted(stages, batch, budget) for budget in (1.0, 0.0))
    for found in (all_kept, least):
        assert torch.allclose(found.gradients, expected, atol=1e-6)
    assert least.flops > all_kept.flops

"""A chain under torch.compile with a memory budget: the same gradient, less memory, more FLOP."""

from __future__ import annotations

import torch

from gpu_course.lessons.optimal_checkpointing.budgeted import run_budgeted
from gpu_course.measure.chains import equal_stages
from gpu_course.measure.schedules.execute import plain


def test_a_smaller_budget_takes_less_memory_and_more_flop_for_the_same_gradient() -> None:
    stages, batch = equal_stages(4, rows=128, width=32)
    plain(stages, batch)
    expected = torch.cat([p.grad.flatten() for stage in stages for p in stage.parameters()])
    all_kept, least = (run_budgeted(stages, batch, budget) for budget in (1.0, 0.0))
    for found in (all_kept, least):
        assert torch.allclose(found.gradients, expected, atol=1e-6)
    assert least.flops > all_kept.flops


def test_a_budget_is_compiled_once() -> None:
    """The number of threads is guarded: a step that runs with another one compiles anew."""
    from torch._dynamo.utils import counters

    counters.clear()
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        run_budgeted(*equal_stages(2, rows=8, width=8), 1.0)
    finally:
        torch.set_num_threads(before)
    assert counters["stats"]["unique_graphs"] == 1

"""Chains run through a wrap: what is compared is exact, what is counted is what happened."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from gpu_course.lessons.checkpointing.recompute import (
    RowsSeen,
    noisy_chain,
    plainly,
    run_wrapped,
    smooth_chain,
)


def with_the_library(stage: nn.Module, x: Tensor) -> Tensor:
    return checkpoint(stage, x, use_reentrant=False)


def test_a_plain_run_repeats_itself() -> None:
    first, second = (run_wrapped(*noisy_chain(3, 4, 5), plainly, seed=6) for _ in range(2))
    assert first.loss == second.loss and first.kept_bytes == second.kept_bytes
    for name in ("gradients", "batch_gradient", "buffers", "next_random"):
        assert torch.equal(getattr(first, name), getattr(second, name))
    assert first.forward_passes == (1, 1, 1, 1)


def test_torchs_checkpoint_keeps_the_bits_runs_twice_and_moves_buffers_twice() -> None:
    plain = run_wrapped(*noisy_chain(3, 4, 5), plainly)
    found = run_wrapped(*noisy_chain(3, 4, 5), with_the_library)
    assert torch.equal(found.gradients, plain.gradients)
    assert found.forward_passes == (2, 2, 2, 2)
    assert not torch.equal(found.buffers, plain.buffers)


def test_not_every_buffer_of_the_noisy_chain_is_a_norms() -> None:
    stages, batch = noisy_chain(3, 4, 5)
    owners = [
        type(module)
        for stage in stages
        for module in stage.modules()
        for _ in module.buffers(recurse=False)
    ]
    assert owners.count(RowsSeen) == 1 and owners.count(nn.BatchNorm2d) == 9
    run_wrapped(stages, batch, with_the_library)
    (counter,) = (m for stage in stages for m in stage.modules() if isinstance(m, RowsSeen))
    assert int(counter.rows) == 2 * len(batch)
    counter.eval()(batch)
    assert int(counter.rows) == 2 * len(batch)


def test_the_callers_generator_is_left_alone() -> None:
    before = torch.get_rng_state()
    run_wrapped(*smooth_chain(2, 8, 0), plainly)
    assert torch.equal(torch.get_rng_state(), before)

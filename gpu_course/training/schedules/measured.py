"""From real modules to the chain a planner sees: bytes and FLOPs measured stage by stage."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from gpu_course.training.schedules.chain import Chain, Stage
from gpu_course.training.schedules.execute import RANDOM_STATE_BYTES
from gpu_course.training.stages import StageBytes, profile_stages


def measure_chain(stages: Sequence[nn.Module], batch: Tensor) -> Chain:
    """Returns the chain of real modules; sizes in bytes, costs in FLOP as PyTorch counts them.

    The stages are left as they are: copies of them run, and the random state is put back.

    Args:
        stages: modules of one input and one output, each fed by the one before; the last computes
            the loss.
        batch: what the first stage gets.
    """
    sizes = profile_stages(stages, batch)
    costs = _flops(stages, batch)
    return Chain(
        tuple(
            _stage(stage, size, after, cost)
            for stage, size, after, cost in zip(
                stages, sizes, [*sizes[1:], None], costs, strict=True
            )
        )
    )


def _stage(
    module: nn.Module, size: StageBytes, after: StageBytes | None, cost: tuple[int, int]
) -> Stage:
    # Running a stage again puts its buffers back afterwards: a copy of them is there meanwhile.
    # Before it begins, the state of the random generator is looked at.
    copies = sum(buffer.nbytes for buffer in module.buffers())
    return Stage(
        output_bytes=size.output_bytes,
        saved_bytes=size.saved_bytes,
        forward_bytes=max(size.forward_bytes + copies, RANDOM_STATE_BYTES),
        forward_saving_bytes=max(size.forward_saving_bytes + copies, RANDOM_STATE_BYTES),
        backward_bytes=max(0, size.backward_bytes),
        output_gradient_bytes=size.output_bytes if after is None else after.input_gradient_bytes,
        forward_cost=cost[0],
        backward_cost=cost[1],
    )


def _flops(stages: Sequence[nn.Module], batch: Tensor) -> list[tuple[int, int]]:
    """FLOPs of the forward and of the backward pass of each stage."""
    found = []
    with torch.random.fork_rng(devices=[]):
        for number, stage in enumerate(stages):
            alone = copy.deepcopy(stage)
            x = batch.detach().requires_grad_(number > 0 and batch.is_floating_point())
            with FlopCounterMode(display=False) as forward:
                y = alone(x)
            with FlopCounterMode(display=False) as backward:
                if y.requires_grad:
                    y.backward(torch.ones_like(y))
            found.append((forward.get_total_flops(), backward.get_total_flops()))
            batch = y.detach()
    return found

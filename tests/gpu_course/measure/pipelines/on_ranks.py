"""A small model in stages, run on ranks by a schedule, and whole in one process."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from gpu_course.measure.pipelines import pytorch
from gpu_course.measure.pipelines.actions import parse
from gpu_course.measure.pipelines.execute import execute

WIDTHS = (5, 7, 4, 6, 3, 8, 5, 4, 6)
"""Of what goes from stage to stage: no two neighbours are alike."""
ROWS = 3


def stage(number: int) -> nn.Module:
    """Returns a stage of the model; the same on every rank."""
    torch.manual_seed(number)
    layer = nn.Linear(WIDTHS[number], WIDTHS[number + 1])
    return nn.Sequential(layer, nn.Tanh()).double()


def batch(stages: int, microbatches: int) -> tuple[list[Tensor], list[Tensor]]:
    torch.manual_seed(99)
    inputs = [torch.randn(ROWS, WIDTHS[0]).double() for _ in range(microbatches)]
    return inputs, [torch.randn(ROWS, WIDTHS[stages]).double() for _ in range(microbatches)]


def whole(stages: int, microbatches: int) -> tuple[list[float], list[list[list[float]]]]:
    """Returns losses and gradients of the model in one process."""
    model = [stage(number) for number in range(stages)]
    losses = []
    for x, target in zip(*batch(stages, microbatches), strict=True):
        loss = mse_loss(nn.Sequential(*model)(x), target)
        loss.backward()  # type: ignore[no-untyped-call]
        losses.append(float(loss.detach()))
    return losses, [gradients(each) for each in model]


def gradients(module: nn.Module) -> list[list[float]]:
    found = []
    for each in module.parameters():
        assert each.grad is not None
        found.append(each.grad.flatten().tolist())
    return found


def run_on_pytorch(lines: Sequence[str], placement: Sequence[int], microbatches: int) -> object:
    """Returns the same, followed by PyTorch's engine."""
    schedule = parse(lines, placement, microbatches)
    rank = dist.get_rank()
    own = {number: stage(number) for number, holder in enumerate(placement) if holder == rank}
    inputs, targets = batch(len(placement), microbatches)
    losses = pytorch.run_on_pytorch(
        schedule,
        own,
        torch.cat(inputs) if placement[0] == rank else None,
        torch.cat(targets) if placement[-1] == rank else None,
        mse_loss,
    )
    return losses, {str(number): gradients(module) for number, module in own.items()}


def run(lines: Sequence[str], placement: Sequence[int], microbatches: int, ways: int = 1) -> object:
    """Returns a rank's losses, and its stages' gradients by number."""
    schedule = parse(lines, placement, microbatches, ways=ways)
    each_way = len(placement) // ways
    own = {
        number: stage(number % each_way)
        for number, rank in enumerate(placement)
        if rank == dist.get_rank()
    }
    inputs, targets = batch(each_way, microbatches)
    shapes = [(ROWS, width) for width in WIDTHS[1 : each_way + 1]] * ways
    losses = execute(schedule, own, inputs, targets, mse_loss, shapes)
    return losses, {str(number): gradients(module) for number, module in own.items()}

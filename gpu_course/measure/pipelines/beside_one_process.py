"""A small GPT in stages, run by a schedule on real ranks, and held against itself in one process.

`by_hand` and `by_pytorch` are what each rank runs; both return how far its gradients are off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from gpu_course.measure.model import Layer
from gpu_course.measure.pipelines.actions import Schedule, parse
from gpu_course.measure.pipelines.execute import execute
from gpu_course.measure.pipelines.pytorch import run_on_pytorch

HIDDEN, HEADS, SEQUENCE, VOCABULARY, ROWS = 16, 2, 8, 32, 2
Engine = Callable[[Schedule, Mapping[int, nn.Module]], None]


class Embedding(nn.Module):
    """The first part of stage 0: tokens and places to numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, HIDDEN)
        self.places = nn.Parameter(torch.randn(SEQUENCE, HIDDEN) / 4)

    def forward(self, x: Tensor) -> Tensor:
        """Returns (rows, sequence, hidden) for (rows, sequence) tokens."""
        return self.tokens(x) + self.places  # type: ignore[no-any-return]


def stage(number: int, stages: int) -> nn.Module:
    """Returns a stage: a layer, the embedding before the first and the head after the last."""
    torch.manual_seed(number)
    parts: list[nn.Module] = [Layer(HIDDEN, HEADS, 0.0)]
    if number == 0:
        parts.insert(0, Embedding())
    if number == stages - 1:
        parts.append(nn.Linear(HIDDEN, VOCABULARY))
    return nn.Sequential(*parts).double()


def batch(microbatches: int) -> tuple[list[Tensor], list[Tensor]]:
    """Returns for each microbatch its tokens, and those that follow them."""
    torch.manual_seed(26)
    text = torch.randint(VOCABULARY, (microbatches, ROWS, SEQUENCE + 1))
    return list(text[:, :, :-1]), list(text[:, :, 1:])


def loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Returns the mean cross entropy of a microbatch."""
    return cross_entropy(logits.flatten(0, 1), targets.flatten())


def by_hand(lines: Sequence[str], placement: Sequence[int], microbatches: int) -> float:
    """Returns how far a rank's gradients are from those of one process, by `execute`."""
    inputs, targets = batch(microbatches)
    stages = len(placement)
    shapes = [(ROWS, SEQUENCE, HIDDEN)] * stages

    def follow(schedule: Schedule, own: Mapping[int, nn.Module]) -> None:
        execute(schedule, own, inputs, targets, loss, shapes)

    return _beside_one_process(lines, placement, microbatches, follow)


def by_pytorch(lines: Sequence[str], placement: Sequence[int], microbatches: int) -> float:
    """Returns the same, by PyTorch's engine."""
    inputs, targets = batch(microbatches)
    rank = dist.get_rank()
    given = torch.cat(inputs) if placement[0] == rank else None
    wanted = torch.cat(targets) if placement[-1] == rank else None

    def follow(schedule: Schedule, own: Mapping[int, nn.Module]) -> None:
        run_on_pytorch(schedule, own, given, wanted, loss)

    return _beside_one_process(lines, placement, microbatches, follow)


def _beside_one_process(
    lines: Sequence[str], placement: Sequence[int], microbatches: int, follow: Engine
) -> float:
    schedule, rank = parse(lines, placement, microbatches), dist.get_rank()
    stages = len(placement)
    own = {
        number: stage(number, stages) for number, holder in enumerate(placement) if holder == rank
    }
    follow(schedule, own)
    whole = [stage(number, stages) for number in range(stages)]
    for tokens, wanted in zip(*batch(microbatches), strict=True):
        loss(nn.Sequential(*whole)(tokens), wanted).backward()  # type: ignore[no-untyped-call]
    return max(
        float((_gradient(one) - _gradient(other)).abs().max())
        for number, module in own.items()
        for one, other in zip(module.parameters(), whole[number].parameters(), strict=True)
    )


def _gradient(parameter: Tensor) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad

"""Stages and tables that misbehave on one of two ranks, run by the course's own engine."""

from __future__ import annotations

import os
import time

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from gpu_course.measure.pipelines.actions import Action, parse
from gpu_course.measure.pipelines.execute import _Follower, execute

WIDTHS, ROWS = (5, 7, 4), 3
TABLE = ["0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"]


def honest(number: int) -> nn.Sequential:
    """Returns a stage that does what it should; the same on every rank."""
    torch.manual_seed(number)
    return nn.Sequential(nn.Linear(WIDTHS[number], WIDTHS[number + 1]), nn.Tanh()).double()


def batch(microbatches: int, wide: int) -> tuple[list[Tensor], list[Tensor]]:
    torch.manual_seed(99)
    inputs = [torch.randn(ROWS, WIDTHS[0]).double() for _ in range(microbatches)]
    return inputs, [torch.randn(ROWS, wide).double() for _ in range(microbatches)]


class Stage(nn.Module):
    """A stage that does something else with its second microbatch, or with every one."""

    def __init__(self, what: str, number: int) -> None:
        super().__init__()
        self.inner = honest(number)
        self.what, self.seen = what, 0

    def forward(self, x: Tensor) -> Tensor:
        self.seen += 1
        y: Tensor = self.inner(x)
        if self.what == "raises":
            raise ValueError("no such layer")
        if self.what == "ends" and self.seen == 2:
            os._exit(3)
        if self.what == "computes for ever":
            while True:
                torch.sum(y)
        if self.what == "sleeps for ever":
            while True:
                time.sleep(60)
        if self.what == "loses its gradient":
            return y.detach()
        if self.what == "is too wide":
            return torch.cat([y, y], dim=1)
        if self.what == "changes its weights":
            with torch.no_grad():
                self.inner[0].weight *= 0.9
        return y


def run(what: str, on: int) -> list[float]:
    """Returns the losses of two ranks of which one has such a stage."""
    rank = dist.get_rank()
    return follow(TABLE, Stage(what if rank == on else "", rank))


def run_each_its_own_table(own: list[list[str]]) -> list[float]:
    """Returns the losses of ranks that were given a table each, and these need not be the same."""
    rank = dist.get_rank()
    return follow(own[rank], Stage("", rank))


def run_and_swallow(lost: str) -> list[float]:
    """Returns the losses of ranks of which one never sends what an action made."""
    give = _Follower.give

    def swallow(
        self: _Follower, stage: int, kind: str, each: int, value: Tensor, *, to: int
    ) -> None:
        if str(Action(stage, kind, each)) != lost:
            give(self, stage, kind, each, value, to=to)

    _Follower.give = swallow  # type: ignore[method-assign]
    return run("", 0)


def follow(lines: list[str], stage: Stage) -> list[float]:
    inputs, targets = batch(2, WIDTHS[2])
    shapes = [(ROWS, width) for width in WIDTHS[1:3]]
    return execute(parse(lines), {dist.get_rank(): stage}, inputs, targets, mse_loss, shapes)


def split_with_idle_parameters() -> list[float]:
    """Returns how far W is from B where parameters are unused, frozen, or not there at all."""
    rank, found = dist.get_rank(), []
    for lines in (["0F0 0I0 0W0", "1F0 1I0 1W0"], ["0F0 0B0", "1F0 1B0"]):
        stage = honest(rank)
        if rank == 0:
            stage.register_parameter("idle", nn.Parameter(torch.ones(2).double()))
            stage[0].bias.requires_grad_(False)
        else:
            stage = nn.Tanh()
        inputs, targets = batch(1, WIDTHS[1])
        shapes = [(ROWS, WIDTHS[1])] * 2
        execute(parse(lines), {rank: stage}, inputs, targets, mse_loss, shapes)
        found.append([None if p.grad is None else p.grad.clone() for p in stage.parameters()])
    far = [0.0]
    for one, other in zip(*found, strict=True):
        assert (one is None) == (other is None)
        far += [] if one is None else [float((one - other).abs().max())]
    return [max(far), float(sum(each is None for each in found[0]))]

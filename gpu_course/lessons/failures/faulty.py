"""Replicas on real ranks, of which one is slow and one gets a flipped bit: what can be measured."""

from __future__ import annotations

import statistics
import time
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional

from gpu_course.lessons.failures.training import drawn, new_model, rows_of

SLOWER = 25
"""How many times as much a slow rank computes, at least."""
LATE_S, MEETINGS = 0.05, 8
"""So late it comes, at least, and so many times later than ranks take to meet on this machine."""
BIT = 44
"""Of the 64 of a float64: a change of less than a hundredth, which no loss shows at once."""
COPIES = 80
"""Each row is taken so often: a pass is to take a while."""


def watched(steps: int, slow: int, flipped: tuple[int, int]) -> dict[str, Any]:
    """Returns what this rank measured of each step of a data-parallel run.

    Args:
        steps: of the run.
        slow: the rank that computes more than the others; -1 for none.
        flipped: (rank, step) in which a bit of what the all-reduce gave changes; rank -1 for none.

    Returns:
        For each step "arrived" and "left", seconds by this rank's clock; "own" and "sizes", the sum
        of its gradient and of its absolute values; "result", the sum after the all-reduce;
        "compute_ms", processor time of its passes; "weights", its weights added up as integers bit
        by bit, so that equal weights have equal sums.
    """
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    model = new_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    names = ("arrived", "left", "own", "sizes", "result", "compute_ms", "weights")
    found: dict[str, list[Any]] = {name: [] for name in names}
    late_s = max(LATE_S, MEETINGS * _meeting_s())
    for step in range(steps):
        x, target = drawn(rows_of(step, rank, size) * COPIES)
        began, due, passes = time.thread_time(), time.perf_counter() + late_s, 0
        while passes == 0 or (rank == slow and (passes < SLOWER or time.perf_counter() < due)):
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(x), target)
            loss.backward()  # type: ignore[no-untyped-call]
            passes += 1
        found["compute_ms"].append(1000 * (time.thread_time() - began))
        gradient = torch.cat([_gradient(each).flatten() for each in model.parameters()])
        found["own"].append(float(gradient.sum()))
        found["sizes"].append(float(gradient.abs().sum()))
        found["arrived"].append(time.perf_counter())
        dist.all_reduce(gradient)
        found["left"].append(time.perf_counter())
        if tuple(flipped) == (rank, step):
            gradient[0].view(torch.int64).bitwise_xor_(torch.tensor(1 << BIT))
        found["result"].append(float(gradient.sum()))
        _take(model, gradient / size)
        optimizer.step()
        found["weights"].append(_sum_of_bits(model))
    return found


def _meeting_s() -> float:
    """Returns how long ranks take to meet: the median of some all-reduces, on the slowest rank."""
    waits = []
    for _ in range(5):
        began = time.perf_counter()
        dist.all_reduce(torch.zeros(1))
        waits.append(time.perf_counter() - began)
    longest = torch.tensor(statistics.median(waits), dtype=torch.float64)
    dist.all_reduce(longest, op=dist.ReduceOp.MAX)
    return float(longest)


def _gradient(parameter: nn.Parameter) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad


def _take(model: nn.Module, gradient: Tensor) -> None:
    at = 0
    for each in model.parameters():
        _gradient(each).copy_(gradient[at : at + each.numel()].view_as(each))
        at += each.numel()


def _sum_of_bits(model: nn.Module) -> int:
    whole = torch.cat([each.detach().flatten() for each in model.parameters()])
    # A sum that runs over begins anew; below 2^53 it can be told exactly.
    return int(whole.view(torch.int64).sum()) % (1 << 50)

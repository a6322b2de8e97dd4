"""Replicas on real ranks, of which one is slow and one gets a flipped bit: what can be measured."""

from __future__ import annotations

import time
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional

from gpu_course.lessons.failures.training import drawn, new_model, rows_of

SLOWER = 25
"""How many times as much a slow rank computes."""
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
    dist.barrier()
    for step in range(steps):
        x, target = drawn(rows_of(step, rank, size) * COPIES)
        began = time.thread_time()
        for _ in range(SLOWER if rank == slow else 1):
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(x), target)
            loss.backward()  # type: ignore[no-untyped-call]
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

"""Replicas on real ranks, of which one is slow and one has a flipped bit: what can be measured."""

from __future__ import annotations

import time
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional

from gpu_course.lessons.failures.training import BATCH, drawn, new_model, rows_of

SLOWER = 6
"""How many times as much a slow rank computes."""
BIT = 44
"""Of the 64 of a float64: a change of less than a hundredth, which no loss shows at once."""


def watched(steps: int, slow: int, flipped: tuple[int, int]) -> dict[str, Any]:
    """Returns what this rank measured of each step of a data-parallel run.

    Args:
        steps: of the run.
        slow: the rank that computes more than the others; -1 for none.
        flipped: (rank, step) before which a bit of one of its weights changes; rank -1 for none.

    Returns:
        For each step "compute_ms", processor time of its own passes; "loss" of its own rows;
        "norm" of its own gradient; "sums", the weights after the step, added up as integers bit by
        bit, so that equal weights have equal sums.
    """
    rank, size = dist.get_rank(), dist.get_world_size()
    model = new_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    found: dict[str, list[Any]] = {"compute_ms": [], "loss": [], "norm": [], "sums": []}
    torch.set_num_threads(1)
    for step in range(steps):
        if tuple(flipped) == (rank, step):
            _flip(model)
        x, target = drawn(rows_of(step, rank, size) * (1000 // BATCH))
        began = time.thread_time()
        for _ in range(SLOWER if rank == slow else 1):
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(x), target)
            loss.backward()  # type: ignore[no-untyped-call]
        found["compute_ms"].append(1000 * (time.thread_time() - began))
        gradient = torch.cat([_gradient(each).flatten() for each in model.parameters()])
        found["loss"].append(float(loss.detach()))
        found["norm"].append(float(gradient.norm()))
        for each in model.parameters():
            dist.all_reduce(_gradient(each))
            _gradient(each).div_(size)
        optimizer.step()
        found["sums"].append(_sum_of_bits(model))
    return found


def _gradient(parameter: nn.Parameter) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad


def _flip(model: nn.Module) -> None:
    """Changes one bit of the first weight, as a particle would."""
    with torch.no_grad():
        bits = next(model.parameters()).view(-1)[:1].view(torch.int64)
        bits.bitwise_xor_(torch.tensor(1 << BIT))


def _sum_of_bits(model: nn.Module) -> int:
    whole = torch.cat([each.detach().flatten() for each in model.parameters()])
    # A sum that runs over begins anew; below 2^53 it can be told exactly.
    return int(whole.view(torch.int64).sum()) % (1 << 50)

"""What lesson 21 runs on ranks: one's own answer, the library's calls, and a ring with a clock."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import torch
import torch.distributed as dist

from gpu_course.lessons.collectives.watching import watch


def called_once(answer: ModuleType, function: str, length: int, more: Sequence[Any]) -> None:
    """Calls a function of an answer with ones.

    Args:
        answer: with the function.
        function: its name.
        length: float64 numbers of the buffer.
        more: what it takes beside the buffer.
    """
    getattr(answer, function)(torch.ones(length, dtype=torch.float64), *more)


def watched(answer: ModuleType, function: str, length: int, more: Sequence[Any]) -> dict[str, Any]:
    """Returns what this rank sent and got while it ran a function of an answer on tagged numbers.

    Args:
        answer, function, length, more: as in `called_once`.
    """
    return watch(getattr(answer, function), length, *more)


def ring_seconds(sizes: Sequence[int], repeats: int) -> list[float]:
    """Returns the median seconds of an all-reduce round a ring, for each size.

    Nothing is added and no tensor is made while the clock runs: what is timed are messages.

    Args:
        sizes: bytes of the buffer, multiples of 8.
        repeats: how often each is timed.
    """
    found = []
    for size in sizes:
        _round(size)
        found.append(statistics.median(_round(size) for _ in range(repeats)))
    return found


def _round(size: int) -> float:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    piece = torch.zeros(max(1, size // 8 // ranks), dtype=torch.float64)
    arrives = torch.empty_like(piece)
    right, left = (rank + 1) % ranks, (rank - 1) % ranks
    dist.barrier()
    begin = time.perf_counter()
    for _ in range(2 * (ranks - 1)):
        works = [dist.isend(piece, right), dist.irecv(arrives, left)]
        for work in works:
            work.wait()  # type: ignore[union-attr]
    return time.perf_counter() - begin


def call_library(kind: str, length: int) -> None:
    """Calls one of the library's collectives on float64 tensors.

    Args:
        kind: "all_reduce", "reduce_scatter", "all_gather" or "broadcast".
        length: numbers of the whole buffer, a multiple of the number of ranks.
    """
    ranks = dist.get_world_size()
    whole = torch.ones(length, dtype=torch.float64)
    part = torch.ones(length // ranks, dtype=torch.float64)
    calls: dict[str, Callable[[], object]] = {
        "all_reduce": lambda: dist.all_reduce(whole),
        "reduce_scatter": lambda: dist.reduce_scatter_tensor(part, whole),
        "all_gather": lambda: dist.all_gather_into_tensor(whole, part),
        "broadcast": lambda: dist.broadcast(whole, 0),
    }
    calls[kind]()

"""What lesson 30 runs on ranks: one all-reduce."""

from __future__ import annotations

import time
from types import ModuleType
from typing import Any

import torch
import torch.distributed as dist


def called_once(answer: ModuleType, length: int) -> None:
    """Calls an answer's all-reduce with ones.

    Args:
        answer: with the function.
        length: float64 numbers of the buffer.
    """
    answer.all_reduce(torch.ones(length, dtype=torch.float64))


def peaks(answer: ModuleType, asked: list[tuple[dict[str, Any], ...]]) -> list[float]:
    """Returns the bytes of the first stage of each training, as an answer counts them.

    Args:
        answer: with predict_memory.
        asked: (model, layout, batch) of each.
    """
    return [float(answer.predict_memory(*each)[0]) for each in asked]


def reduce_seconds(sizes: list[int], repeats: int) -> list[float]:
    """Returns the best seconds of an all-reduce of the library, for each size in bytes."""
    found = []
    for size in sizes:
        buffer = torch.zeros(size // 4)
        times = []
        for _ in range(repeats):
            dist.barrier()
            begin = time.perf_counter()
            dist.all_reduce(buffer)
            times.append(time.perf_counter() - begin)
        found.append(min(times))
    return found

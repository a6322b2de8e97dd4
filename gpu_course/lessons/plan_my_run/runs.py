"""What lesson 30 runs on ranks: one all-reduce."""

from __future__ import annotations

from types import ModuleType

import torch


def called_once(answer: ModuleType, length: int) -> None:
    """Calls an answer's all-reduce with ones.

    Args:
        answer: with the function.
        length: float64 numbers of the buffer.
    """
    answer.all_reduce(torch.ones(length, dtype=torch.float64))

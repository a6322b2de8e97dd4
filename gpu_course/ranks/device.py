"""Where a rank has its tensors: on a GPU of its own, where each rank of the machine has one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def own_device() -> torch.device:
    """Returns the GPU of this rank, which it computes on from now on, or the CPU.

    Ranks are counted on each machine, as torchrun and the runner tell them in LOCAL_RANK. Where
    they are more than GPUs, none gets one: NCCL takes no GPU twice.

    >>> own_device().type in ("cpu", "cuda")
    True
    """
    import torch

    place, on_machine = (int(os.environ.get(n, d)) for n, d in _TOLD)
    if torch.cuda.device_count() < max(on_machine, 1):
        return torch.device("cpu")
    device = torch.device("cuda", place)
    torch.cuda.set_device(device)
    return device


_TOLD = (("LOCAL_RANK", "0"), ("LOCAL_WORLD_SIZE", "1"))
"""The variables that say which rank of its machine this is, and of how many; without them one."""

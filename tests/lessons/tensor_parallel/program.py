"""What the program that lesson 24 prints for a cluster is to return."""

from __future__ import annotations

import torch

from gpu_course.measure.model import MLP


def right(rank: int) -> float:
    """What its layer gives when nobody cuts it."""
    torch.manual_seed(24)
    return MLP(64, dropout=0.0).double()(torch.ones(4, 64, dtype=torch.float64)).sum().item()

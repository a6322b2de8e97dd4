"""What the program that lesson 22 prints for a cluster is to return."""

from __future__ import annotations

import torch

from gpu_course.lessons.data_parallel.training import SHAPE, flat, tiny_gpt
from gpu_course.measure.model import next_token_loss, random_tokens
from tests.course.programs import RANKS


def right(rank: int) -> float:
    """The sum of the weights after its three steps, by one process."""
    model = tiny_gpt()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(3):
        for each in range(RANKS):
            tokens = random_tokens(SHAPE, 2, each)
            (next_token_loss(model(tokens), tokens) / RANKS).backward()
        optimizer.step()
        optimizer.zero_grad()
    return flat(model).sum().item()

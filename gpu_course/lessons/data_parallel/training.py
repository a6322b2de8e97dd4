"""The tiny GPT of lesson 22 and a few steps of gradient descent, on one rank or on each of several.

It is all float64, so that two ways of adding up differ in the last digits alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from gpu_course.measure.model import GPT, Shape, drawn_gpt, next_token_loss, random_tokens

SHAPE = Shape(hidden=32, heads=2, layers=2, sequence=16, vocabulary=64, dropout=0.0)
BATCH, STEPS, RATE = 8, 3, 0.5
Mark = Callable[[int], None]
BEGINS, ENDS = 1000, 1001
"""Marks of a backward pass; a smaller number is that of a parameter whose gradient is there."""


def tiny_gpt(seed: int = 0) -> GPT:
    """Returns the tiny GPT in float64, its weights drawn with a seed."""
    return drawn_gpt(SHAPE, seed)


def own_tokens(ranks: int, rank: int, shape: Shape = SHAPE) -> Tensor:
    """Returns a rank's sequences of the batch, every one of so many."""
    return random_tokens(shape, BATCH)[rank::ranks]


def flat(model: nn.Module) -> Tensor:
    """Returns a copy of all parameters, one behind the other."""
    return torch.cat([each.detach().flatten() for each in model.parameters()])


def take_steps(
    model: nn.Module,
    tokens: Tensor,
    forward: Callable[[Tensor], Tensor],
    finish: Callable[[], Any] = lambda: None,
    mark: Mark = lambda number: None,
) -> Tensor:
    """Returns the weights after a few steps of gradient descent.

    Args:
        model: whose parameters are changed.
        tokens: of this rank.
        forward: the model's, or that of what wraps it.
        finish: is called after each backward pass.
        mark: is told when a backward pass begins and ends.
    """
    for _ in range(STEPS):
        loss = next_token_loss(forward(tokens), tokens)
        mark(BEGINS)
        loss.backward()  # type: ignore[no-untyped-call]
        mark(ENDS)
        finish()
        with torch.no_grad():
            for each in model.parameters():
                if each.grad is not None:
                    each.sub_(RATE * each.grad)
        model.zero_grad()
    return flat(model)

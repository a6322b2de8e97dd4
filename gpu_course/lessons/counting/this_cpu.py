"""MFU of a small model on one core of this computer, against the core's own matrix product."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.nn import functional

from gpu_course.lessons.counting.decoder import Decoder
from gpu_course.measure.threads import one_thread
from gpu_course.measure.transformer_shapes import Transformer, utilisation

REPEATS = 3
SIDE = 512
"""Of the square matrices whose product stands for the core's peak."""


@dataclass(frozen=True)
class Tried:
    """What a small model reached.

    Attributes:
        tokens_per_s: in training steps.
        flop_per_token: of the model, as `training_flop` counts them.
        matmul_flop_per_s: of a large product in float32 on the same core.
    """

    tokens_per_s: float
    flop_per_token: int
    matmul_flop_per_s: float

    @property
    def model_flop_per_s(self) -> float:
        """FLOP/s of the model."""
        return self.tokens_per_s * self.flop_per_token

    @property
    def mfu(self) -> float:
        """The share of the product's rate."""
        return utilisation(self.flop_per_token, self.tokens_per_s, 1, self.matmul_flop_per_s)


def try_training(
    shape: Transformer, batch: int = 2, sequence: int = 64, again: str = "none"
) -> Tried:
    """Returns what training steps of a small model reach on one core, in float32.

    Args:
        shape: of the model.
        batch, sequence: of a step.
        again: what runs forward once more; MFU counts none of it.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = Decoder(shape, again)
        tokens = torch.randint(0, shape.vocabulary, (batch, sequence))
    optimizer = torch.optim.AdamW(model.parameters())

    def step() -> None:
        optimizer.zero_grad()
        logits = model(tokens)
        functional.cross_entropy(logits.flatten(0, 1), tokens.flatten()).backward()
        optimizer.step()

    flop = shape.training_flop(sequence)[0]
    with one_thread():
        return Tried(batch * sequence / seconds_of(step), flop, matmul_rate())


def matmul_rate(side: int = SIDE) -> float:
    """Returns the FLOP/s of a product of two square matrices in float32."""
    a, b = torch.ones(side, side), torch.ones(side, side)
    return 2 * side**3 / seconds_of(lambda: a @ b)


def seconds_of(call: Callable[[], object]) -> float:
    """Returns the least of several times, after one that is not counted."""
    call()
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best

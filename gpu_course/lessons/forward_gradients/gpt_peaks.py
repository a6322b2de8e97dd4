"""What one training step of the course's small GPT takes, with a backward pass and without."""

from __future__ import annotations

import torch
from torch import Tensor

from gpu_course.lessons.forward_gradients.forward_step import ForwardStep
from gpu_course.measure.ledger import keep_ledger
from gpu_course.measure.model import GPT, Shape, next_token_loss, random_tokens
from gpu_course.measure.peak import bytes_of

NAMES = ("backprop", "forward gradient", "parameters, direction")


def gpt_peaks(layers: int, batch: int = 8, seed: int = 0) -> dict[str, int]:
    """Returns {name of NAMES: bytes} of one step: two peaks, and what grows with the parameters.

    The last is the parameters and one direction, which is as large; both lie within the second
    peak. What is left of it are the numbers of the forward pass.

    Args:
        layers: of the GPT, 64 wide.
        batch: sequences of 32 random tokens.
        seed: of its weights and tokens.
    """
    shape = Shape(layers=layers, dropout=0.0)
    tokens = random_tokens(shape, batch, seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = GPT(shape)

    def loss(logits: Tensor, _: object = None) -> Tensor:
        return next_token_loss(logits, tokens)

    step = ForwardStep(model, loss, seed)
    step(tokens)  # the first run of a rule for tangents also compiles it, and takes more memory
    backprop = keep_ledger(model, loss, [tokens], steps=1)
    forward = keep_ledger(step, lambda estimate, _: estimate, [tokens], steps=1)
    both = 2 * bytes_of(*model.parameters())
    return dict(zip(NAMES, (backprop.peak_bytes, forward.peak_bytes, both), strict=True))

"""The peak of a loss over a vocabulary: with all logits in memory, or a chunk of them at a time."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from gpu_course.measure.peak import measure_peak


def peak_of_loss(tokens: int, hidden: int, vocabulary: int, *, chunked: bool) -> int:
    """Returns the most bytes that the loss of a language model takes, forward and backward.

    Above the head's weight, the tokens' vectors and the gradients of both, in float32.

    Args:
        tokens: how many.
        hidden: numbers in a token's vector.
        vocabulary: how many logits each token has.
        chunked: True for `linear_cross_entropy` of PyTorch, which works through the tokens in
            chunks and has their gradients at once; False for all logits at the same time.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        head = (torch.randn(vocabulary, hidden) / hidden).requires_grad_()
        x = torch.randn(tokens, hidden).requires_grad_()
        following = torch.randint(0, vocabulary, (tokens,))
    head.grad, x.grad = torch.zeros_like(head), torch.zeros_like(x)
    options = nn.LinearCrossEntropyOptions() if chunked else None

    def run() -> None:
        loss = functional.linear_cross_entropy(x, head, following, options=options)
        loss.backward()

    return measure_peak(run).peak_bytes

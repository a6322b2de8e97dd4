"""The small GPT with one sequence over several ranks: each holds its tokens and all the weights.

Only attention asks for other tokens. All the rest works on one token at a time: embeddings, which
need a token's place; norms; the MLP; and the loss, which needs its successor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional

from gpu_course.measure.model import GPT, Shape, drawn_gpt, next_token_loss, random_tokens

SHAPE = Shape(hidden=32, heads=4, layers=2, sequence=48, vocabulary=64, dropout=0.0)
"""Small; two, three, four, six and eight ranks share its tokens evenly, in zigzag too."""

Forward = Callable[..., tuple[Tensor, Tensor]]
"""(q, k, v, places, causal) -> (out, lse), each over this rank's tokens."""
Backward = Callable[..., tuple[Tensor, Tensor, Tensor]]
"""(dout, q, k, v, out, lse, places, causal) -> (dq, dk, dv)."""


class _OverRanks(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        places: Sequence[Tensor],
        forward: Forward,
        backward: Backward,
    ) -> Tensor:
        out, lse = forward(q, k, v, places, True)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.places, ctx.way_back = places, backward
        return out

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, out, lse = ctx.saved_tensors
        found = ctx.way_back(slopes[0].contiguous(), q, k, v, out, lse, ctx.places, True)
        return *found, None, None, None


def model_and_tokens(seed: int = 0) -> tuple[GPT, Tensor]:
    """Returns the model in float64 and a sequence of tokens (1, s), the same on every rank."""
    return drawn_gpt(SHAPE, seed), random_tokens(SHAPE, 1, seed)


def one_process(seed: int = 0) -> tuple[float, list[Tensor]]:
    """Returns (loss, gradients of all parameters) of a step with the sequence in one place."""
    model, tokens = model_and_tokens(seed)
    loss = next_token_loss(model(tokens), tokens)
    loss.backward()
    return loss.item(), [_gradient(each) for each in model.parameters()]


def over_ranks(
    places: Sequence[Tensor], forward: Forward, backward: Backward, seed: int = 0
) -> tuple[float, list[Tensor]]:
    """Returns the same of a step whose sequence lies on all ranks, called on each of them.

    Args:
        places: for each rank the places of its tokens.
        forward, backward: attention over the ranks.
        seed: of weights and tokens.
    """
    model, tokens = model_and_tokens(seed)
    own = places[dist.get_rank()]
    mine, following = tokens[0][own], own + 1 < tokens.shape[1]
    x = model.tokens(mine) + model.places(own)
    layers: Any = model.layers
    for layer in layers:
        attention = layer.attention
        qkv = attention.qkv(layer.norm_attention(x))
        # (s, 3h) -> three times (a, s, h / a)
        q, k, v = qkv.view(len(own), 3, attention.heads, -1).permute(1, 2, 0, 3)
        heads = [each.contiguous() for each in (q, k, v)]
        mixed: Any = _OverRanks.apply(*heads, places, forward, backward)
        x = x + attention.out(mixed.transpose(0, 1).reshape(len(own), -1))
        x = x + layer.mlp(layer.norm_mlp(x))
    logits = model.head(model.norm(x))
    # The mean over the whole sequence: each rank brings its part of the sum.
    loss = functional.cross_entropy(
        logits[following], tokens[0][own[following] + 1], reduction="sum"
    ) / (tokens.shape[1] - 1)
    loss.backward()
    found = [_gradient(each) for each in model.parameters()]
    total = loss.detach()
    for each in (total, *found):
        dist.all_reduce(each)
    return total.item(), found


def _gradient(parameter: Tensor) -> Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad

"""A decoder of any shape as a real PyTorch model: what a count of shapes is held against.

Attention multiplies queries with all keys and hides the later ones afterwards, so that PyTorch's
counter sees the products that the published formulas count.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop

from gpu_course.measure.transformer_shapes import AGAIN, Transformer


class Attention(nn.Module):
    """Causal attention whose KV heads are shared by groups of query heads.

    Args:
        shape: of the model.
        again: True where the products of all pairs run once more for the backward pass.
    """

    def __init__(self, shape: Transformer, *, again: bool = False) -> None:
        super().__init__()
        self.heads, self.kv_heads = shape.heads, shape.kv_heads or shape.heads
        self.again = again
        self.query = nn.Linear(shape.hidden, shape.queries, bias=shape.qkv_bias)
        self.key = nn.Linear(shape.hidden, shape.keys, bias=shape.qkv_bias)
        self.value = nn.Linear(shape.hidden, shape.keys, bias=shape.qkv_bias)
        self.out = nn.Linear(shape.queries, shape.hidden, bias=shape.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Returns (b, s, h) for x of (b, s, h)."""
        query = self.query(x).unflatten(2, (self.heads, -1)).transpose(1, 2)  # (b, a, s, d)
        key, value = (
            part(x).unflatten(2, (self.kv_heads, -1)).transpose(1, 2)
            for part in (self.key, self.value)
        )
        mixed = run_again(mix, query, key, value) if self.again else mix(query, key, value)
        return self.out(mixed.transpose(1, 2).flatten(2))


def mix(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Returns the values of all tokens up to each one, weighted by its scores: (b, a, s, d)."""
    shared = query.shape[1] // key.shape[1]
    key, value = (each.repeat_interleave(shared, dim=1) for each in (key, value))
    scores = query @ key.transpose(2, 3) / math.sqrt(query.shape[3])  # (b, a, s, s)
    later = torch.ones(scores.shape[2:], dtype=torch.bool, device=scores.device).triu(1)
    return scores.masked_fill(later, -torch.inf).softmax(3) @ value


class MLP(nn.Module):
    """Two matrices with GELU between them, or three with a gate."""

    def __init__(self, shape: Transformer) -> None:
        super().__init__()
        linear = partial(nn.Linear, bias=shape.bias)
        self.gate = linear(shape.hidden, shape.inside) if shape.gated else None
        self.up = linear(shape.hidden, shape.inside)
        self.down = linear(shape.inside, shape.hidden)

    def forward(self, x: Tensor) -> Tensor:
        """Returns (..., h) for x of (..., h)."""
        if self.gate is None:
            return self.down(functional.gelu(self.up(x)))
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class Experts(nn.Module):
    """MLPs of which each token goes through the top_k that a router gives the highest scores."""

    def __init__(self, shape: Transformer) -> None:
        super().__init__()
        self.top_k = shape.top_k
        self.router = nn.Linear(shape.hidden, shape.experts, bias=False)
        self.experts = nn.ModuleList(MLP(shape) for _ in range(shape.experts))

    def forward(self, x: Tensor) -> Tensor:
        """Returns (b, s, h) for x of (b, s, h)."""
        tokens = x.flatten(0, 1)
        scores, chosen = self.router(tokens).topk(self.top_k)
        weights = scores.softmax(1)
        out = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            rows, place = torch.where(chosen == number)
            out = out.index_add(0, rows, weights[rows, place, None] * expert(tokens[rows]))
        return out.view_as(x)


class Layer(nn.Module):
    """One layer: attention and MLP, each beside its input; norms as many as the shape says."""

    def __init__(self, shape: Transformer, *, again: bool = False) -> None:
        super().__init__()
        self.norms = nn.ModuleList(norm_of(shape) for _ in range(shape.norms))
        self.attention = Attention(shape, again=again)
        self.mlp = Experts(shape) if shape.experts else MLP(shape)

    def forward(self, x: Tensor) -> Tensor:
        """Returns (b, s, h) for x of (b, s, h)."""
        first, *more = [*self.norms, nn.Identity()]
        x = x + self.attention(first(x))
        return x + self.mlp(more[0](x) if more else x)


def norm_of(shape: Transformer) -> nn.Module:
    """Returns a norm of the kind that the shape has."""
    return nn.LayerNorm(shape.hidden) if shape.norm == "layer" else nn.RMSNorm(shape.hidden)


class Decoder(nn.Module):
    """A language model of a shape.

    Positions that are rotated learn nothing and multiply no matrices; they are left out here.

    Args:
        shape: its numbers.
        again: what runs forward once more for the backward pass, as in `training_flop`.
    """

    def __init__(self, shape: Transformer, again: str = "none") -> None:
        super().__init__()
        self.layers_again = AGAIN[again][0] > 0
        self.tokens = nn.Embedding(shape.vocabulary, shape.hidden)
        self.places = nn.Embedding(shape.positions, shape.hidden) if shape.positions else None
        self.layers = nn.ModuleList(
            Layer(shape, again=again == "attention") for _ in range(shape.layers)
        )
        self.norm = norm_of(shape)
        self.head = nn.Linear(shape.hidden, shape.vocabulary, bias=False)
        if shape.tied:
            self.head.weight = self.tokens.weight

    def forward(self, tokens: Tensor) -> Tensor:
        """Returns logits (b, s, V) for tokens (b, s)."""
        x = self.tokens(tokens)
        if self.places is not None:
            x = x + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for layer in self.layers:
            x = run_again(layer, x) if self.layers_again else layer(x)
        return self.head(self.norm(x))


def run_again(function: Callable[..., Tensor], *inputs: Tensor) -> Tensor:
    """Returns what a function gives; it runs once more when the backward pass comes."""
    out: Tensor = checkpoint(function, *inputs, use_reentrant=False)
    return out


def parameters_of(shape: Transformer) -> int:
    """Returns how many parameters PyTorch finds in the model; its tensors take no memory."""
    with torch.device("meta"):
        model = Decoder(shape)
    return sum(each.numel() for each in model.parameters())


def counted_flop(
    shape: Transformer,
    batch: int,
    sequence: int,
    again: str = "none",
    *,
    early_stop: bool = False,
) -> int:
    """Returns the FLOP that PyTorch's counter sees in a training step of the real model.

    Args:
        shape: of a small model.
        batch: sequences.
        sequence: tokens in each.
        again: what runs forward once more.
        early_stop: True for PyTorch's default: what runs once more stops as soon as it has all that
            the backward pass needs.
    """
    from torch.utils.flop_counter import FlopCounterMode

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = Decoder(shape, again)
        tokens = torch.randint(0, shape.vocabulary, (batch, sequence))
    counter = FlopCounterMode(display=False)
    with counter, set_checkpoint_early_stop(early_stop):
        logits = model(tokens)
        functional.cross_entropy(logits.flatten(0, 1), tokens.flatten()).backward()
    return int(counter.get_total_flops())

"""A transformer written out in the steps the papers count, small enough to be read whole."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True)
class Shape:
    """The numbers of a transformer.

    Attributes:
        hidden: width (h).
        heads: attention heads (a); they divide `hidden`.
        layers: how many layers.
        sequence: the longest sequence (s).
        vocabulary: how many tokens there are (V).
        dropout: the share of numbers that each dropout sets to 0.
    """

    hidden: int = 64
    heads: int = 4
    layers: int = 2
    sequence: int = 32
    vocabulary: int = 128
    dropout: float = 0.1


class Attention(nn.Module):
    """Causal self-attention, one step per line of the paper's count.

    Args:
        hidden, heads, dropout: as in Shape.
        softmax_float32: True to widen the scores to float32 for the softmax.
        fused: True for PyTorch's fused operator, which keeps no scores; it knows no dropout of the
            scores on a CPU, so theirs is left out.
    """

    def __init__(
        self,
        hidden: int,
        heads: int,
        dropout: float = 0.1,
        *,
        softmax_float32: bool = False,
        fused: bool = False,
    ) -> None:
        super().__init__()
        self.heads = heads
        self.softmax_float32 = softmax_float32
        self.fused = fused
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.out = nn.Linear(hidden, hidden)
        self.score_dropout = nn.Dropout(dropout)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Returns the layer's change of x.

        Args:
            x: (b, s, h).
        """
        b, s, h = x.shape
        # (b, s, 3h) -> three times (b, a, s, h / a)
        q, k, v = self.qkv(x).view(b, s, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        if self.fused:
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            mixed = self.score_dropout(self._weights(q, k)) @ v  # (b, a, s, s) @ (b, a, s, h / a)
        return self.dropout(self.out(mixed.transpose(1, 2).reshape(b, s, h)))

    def _weights(self, q: Tensor, k: Tensor) -> Tensor:
        scores = q @ k.transpose(-2, -1)  # (b, a, s, s)
        scores = scores * (1 / math.sqrt(q.shape[-1]))
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(later, float("-inf"))
        if self.softmax_float32:
            return scores.float().softmax(-1).to(q.dtype)
        return scores.softmax(-1)


class MLP(nn.Module):
    """Two linear layers with GELU between them, and dropout."""

    def __init__(self, hidden: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.up = nn.Linear(hidden, 4 * hidden)
        self.gelu = nn.GELU()
        self.down = nn.Linear(4 * hidden, hidden)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Returns the layer's change of x, (b, s, h)."""
        return self.dropout(self.down(self.gelu(self.up(x))))


class Layer(nn.Module):
    """One transformer layer: attention and MLP, each behind a layer norm and beside its input.

    Args:
        hidden, heads, dropout: as in Shape.
        softmax_float32, fused: as in Attention.
    """

    def __init__(
        self,
        hidden: int,
        heads: int,
        dropout: float = 0.1,
        *,
        softmax_float32: bool = False,
        fused: bool = False,
    ) -> None:
        super().__init__()
        self.norm_attention = nn.LayerNorm(hidden)
        self.attention = Attention(
            hidden, heads, dropout, softmax_float32=softmax_float32, fused=fused
        )
        self.norm_mlp = nn.LayerNorm(hidden)
        self.mlp = MLP(hidden, dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Returns (b, s, h) for x of (b, s, h)."""
        x = x + self.attention(self.norm_attention(x))
        return x + self.mlp(self.norm_mlp(x))


class GPT(nn.Module):
    """A small GPT: embeddings, layers, a last norm, and logits.

    Args:
        shape: its numbers.
        fused: as in Attention.
    """

    def __init__(self, shape: Shape, *, fused: bool = False) -> None:
        super().__init__()
        self.tokens = nn.Embedding(shape.vocabulary, shape.hidden)
        self.places = nn.Embedding(shape.sequence, shape.hidden)
        self.layers = nn.ModuleList(
            Layer(shape.hidden, shape.heads, shape.dropout, fused=fused)
            for _ in range(shape.layers)
        )
        self.norm = nn.LayerNorm(shape.hidden)
        self.head = nn.Linear(shape.hidden, shape.vocabulary, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Returns logits (b, s, V) for tokens (b, s) of int64."""
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.tokens(tokens) + self.places(places)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def drawn_gpt(shape: Shape, seed: int = 0, *, fused: bool = False) -> GPT:
    """Returns a GPT in float64 whose weights are drawn with a seed; no other draw is moved by it.

    Args:
        shape: its numbers.
        seed: of the draw.
        fused: as in Attention.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return GPT(shape, fused=fused).double()


def next_token_loss(logits: Tensor, tokens: Tensor) -> Tensor:
    """Returns the mean cross-entropy of each token given those before it.

    Args:
        logits: (b, s, V).
        tokens: (b, s) of int64; the last one of each sequence is only predicted.
    """
    return functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


def random_tokens(shape: Shape, batch: int, seed: int = 0) -> Tensor:
    """Returns tokens (batch, s) of int64 drawn with a seed."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, shape.vocabulary, (batch, shape.sequence), generator=generator)

"""A LLaMA's layer and its end, and the bytes they keep for their backward pass, token by token."""

from __future__ import annotations

from functools import lru_cache, partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from gpu_course.measure.llama_shapes import Llama
from gpu_course.measure.saved import saved_bytes

HEAD_WIDTH = 128
"""Numbers in one attention head, as in the 7B model."""
TOKENS = 128
"""How many tokens are sent through when bytes are counted; the count is per token."""


class Layer(nn.Module):
    """Attention with rotated positions, then a gated MLP, each behind a norm of its own.

    Args:
        hidden: width.
        mlp: width inside the MLP.
        heads: of the attention; each has hidden / heads numbers, an even count.
        dtype: of the parameters.
        key_heads: heads of keys and values, each shared by as many query heads (GQA); default as
            many as heads.

    Source: Touvron et al. 2023, arXiv 2302.13971, section 2.2; Ainslie et al. 2023, arXiv
    2305.13245, for grouped queries.
    """

    def __init__(
        self,
        hidden: int,
        mlp: int,
        heads: int,
        dtype: torch.dtype = torch.bfloat16,
        *,
        key_heads: int | None = None,
    ) -> None:
        super().__init__()
        linear = partial(nn.Linear, bias=False, dtype=dtype)
        self.heads, self.key_heads = heads, key_heads or heads
        self.before, self.between = (nn.RMSNorm(hidden, dtype=dtype) for _ in range(2))
        self.query, self.out = (linear(hidden, hidden) for _ in range(2))
        narrow = hidden // heads * self.key_heads
        self.key, self.value = (linear(hidden, narrow) for _ in range(2))
        self.gate, self.up = (linear(hidden, mlp) for _ in range(2))
        self.down = linear(mlp, hidden)

    def forward(self, x: Tensor) -> Tensor:
        """Returns (batch, tokens, hidden) for x of that shape."""
        y = self.before(x)
        query, key, value = (
            part(y).unflatten(2, (heads, -1)).transpose(1, 2)  # (batch, heads, tokens, -1)
            for part, heads in (
                (self.query, self.heads),
                (self.key, self.key_heads),
                (self.value, self.key_heads),
            )
        )
        attended = functional.scaled_dot_product_attention(
            rotated(query), rotated(key), value, is_causal=True, enable_gqa=key.shape != query.shape
        )
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        y = self.between(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class End(nn.Module):
    """The last norm, the logits, and their loss, worked out in float32."""

    def __init__(self, hidden: int, vocabulary: int, dtype: torch.dtype = torch.bfloat16) -> None:
        super().__init__()
        self.norm = nn.RMSNorm(hidden, dtype=dtype)
        self.head = nn.Linear(hidden, vocabulary, bias=False, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        """Returns the loss for x of (batch, tokens, hidden), as if token 0 came next each time."""
        logits = self.head(self.norm(x)).flatten(0, 1).float()
        targets = torch.zeros(len(logits), dtype=torch.int64, device=x.device)
        return functional.cross_entropy(logits, targets)


def rotated(x: Tensor) -> Tensor:
    """Returns queries or keys turned by an angle that grows with their place.

    Args:
        x: (batch, heads, tokens, width).
    """
    places = torch.arange(x.shape[2], device=x.device)
    speeds = 10000 ** (-torch.arange(0, x.shape[3], 2, device=x.device) / x.shape[3])
    angles = (places[:, None] * speeds).repeat(1, 2)  # (tokens, width)
    first, second = x.chunk(2, dim=3)
    turned = torch.cat([-second, first], dim=3)
    return x * angles.cos().to(x.dtype) + turned * angles.sin().to(x.dtype)


def layer_kept_per_token(hidden: int, mlp: int, heads: int, key_heads: int, tokens: int) -> float:
    """Returns the bytes that one layer keeps for each token, in bfloat16, as the hooks count them.

    Args:
        hidden, mlp, heads, key_heads: as for Layer.
        tokens: in the one sequence that is sent through.
    """
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        x = torch.zeros(1, tokens, hidden, dtype=torch.bfloat16, requires_grad=True)
        return saved_bytes(Layer(hidden, mlp, heads, key_heads=key_heads), x) / tokens


@lru_cache
def kept_per_token(model: Llama) -> tuple[int, int]:
    """Returns (bytes of one layer, bytes of the end) kept for backward, in bfloat16, per token.

    Counted by the hooks of lesson 16 on layers of the model's own shape. Their tensors have shapes
    and no memory behind them, so it takes none for a model of any size. What belongs to no token,
    such as the table of angles, is shared out among TOKENS of them.
    """
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        x = torch.zeros(1, TOKENS, model.hidden, dtype=torch.bfloat16, requires_grad=True)
        layer = Layer(model.hidden, model.mlp, max(model.hidden // HEAD_WIDTH, 1))
        end = End(model.hidden, model.vocabulary)
        return saved_bytes(layer, x) // TOKENS, saved_bytes(end, x) // TOKENS

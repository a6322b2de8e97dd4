"""What lesson 25 runs on ranks: one's own ring, alone, beside PyTorch's, and in a training step."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from gpu_course.lessons.context_parallel.context_model import one_process, over_ranks

Places = Sequence[Sequence[int]]
"""For each rank the places of its tokens."""


def ring(answer: ModuleType, places: Places, heads: int, width: int) -> None:
    """Calls an answer's causal ring_attention: what is asked of it is what it sends.

    Args:
        answer: with `ring_attention`.
        places: of each rank.
        heads, width: of q, k and v.
    """
    everyone = _tensors(places)
    own = everyone[dist.get_rank()]
    q, k, v = (each[:, own].contiguous() for each in _drawn(places, heads, width))
    answer.ring_attention(q, k, v, everyone, True)


def ring_beside_torch(answer: ModuleType, places: Places, heads: int, width: int) -> float:
    """Returns how far an answer's ring_attention is from PyTorch's attention in one process.

    Args:
        answer, places, heads, width: as in `ring`.
    """
    everyone = _tensors(places)
    own = everyone[dist.get_rank()]
    q, k, v = _drawn(places, heads, width)
    whole = scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]
    mine = [each[:, own].contiguous() for each in (q, k, v)]
    out, _ = answer.ring_attention(*mine, everyone, True)
    return float((out - whole[:, own]).abs().max()) if len(own) else 0.0


def training_step(forward: ModuleType, backward: ModuleType, places: Places) -> list[float]:
    """Returns how far loss and gradients of a step on all ranks are from those of one process.

    Args:
        forward: an answer with `ring_attention`.
        backward: an answer with `ring_attention_backward`.
        places: of each rank.
    """
    ways = forward.ring_attention, backward.ring_attention_backward
    loss, found = over_ranks(_tensors(places), *ways)
    right_loss, right = one_process()
    off = [float((a - b).abs().max()) for a, b in zip(found, right, strict=True)]
    return [abs(loss - right_loss), max(off)]


def _tensors(places: Places) -> list[Tensor]:
    return [torch.tensor(own) for own in places]


def _drawn(places: Places, heads: int, width: int) -> list[Tensor]:
    """Returns q, k and v of all tokens, the same on every rank."""
    generator = torch.Generator().manual_seed(0)
    shape = heads, 1 + max(max(own) for own in places), width
    return [torch.randn(*shape, generator=generator, dtype=torch.float64) for _ in range(3)]

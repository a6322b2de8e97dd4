"""The GPT of `measure.every_axis` written once more, in one process and without an axis."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from gpu_course.measure.every_axis.configuration import Shape
from gpu_course.measure.every_axis.parts import IN_A_LAYER
from gpu_course.measure.threads import one_thread


def losses_and_gradients(
    shape: Shape, weights: Mapping[str, np.ndarray], tokens: np.ndarray
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Returns every token's loss, (sequence, batch), and the gradients of their mean.

    Each token goes to its experts one expert at a time, and no buffer is there.

    Args:
        shape: of the model.
        weights: as `parts.drawn` gives them.
        tokens: (batch, sequence + 1) of int64.
    """
    with one_thread():
        return _losses_and_gradients(shape, weights, tokens)


def _losses_and_gradients(
    shape: Shape, weights: Mapping[str, np.ndarray], tokens: np.ndarray
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    w = {name: torch.tensor(value, requires_grad=True) for name, value in weights.items()}
    whole = torch.from_numpy(tokens)
    x = w["tokens"][whole[:, :-1]] + w["places"]
    for layer in range(shape.layers):
        x = _layer(shape, {name: w[name][layer] for name in IN_A_LAYER}, x)
    logits = functional.layer_norm(x, (shape.hidden,), w["norm"]) @ w["tokens"].T
    losses = functional.cross_entropy(logits.transpose(1, 2), whole[:, 1:], reduction="none")
    losses.mean().backward()  # type: ignore[no-untyped-call]
    return losses.detach().numpy().T, {name: _gradient(each) for name, each in w.items()}


def _layer(shape: Shape, w: Mapping[str, Tensor], x: Tensor) -> Tensor:
    """Returns what a layer makes of x, (batch, sequence, hidden)."""
    h, heads = shape.hidden, shape.heads
    a = functional.layer_norm(x, (h,), w["norm_attention"])
    q, k, v = (a @ w["qkv"].reshape(3 * h, h).T).unflatten(-1, (3, heads, h // heads)).unbind(2)
    mixed = functional.scaled_dot_product_attention(
        q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True
    )
    x = x + mixed.transpose(1, 2).flatten(2) @ w["out"].reshape(h, h)
    m = functional.layer_norm(x, (h,), w["norm_mlp"]).flatten(0, 1)
    chances, chosen = (m @ w["router"].T).softmax(-1).topk(shape.top_k)
    y = torch.zeros_like(m)
    for expert in range(shape.experts):
        token, nth = (chosen == expert).nonzero(as_tuple=True)
        made = functional.gelu(m[token] @ w["up"][expert].T) @ w["down"][expert]
        y = y.index_add(0, token, chances[token, nth][:, None] * made)
    return x + y.view_as(x)


def _gradient(x: Tensor) -> np.ndarray:
    assert x.grad is not None
    return x.grad.numpy()

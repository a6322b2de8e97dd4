"""A GPT cut into units, each a function of its own flat weights: what sharding gathers at once.

Source: Zhao and others 2023, "PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel",
section 3.2: a model is cut into units, and each unit's parameters are flattened.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.func import functional_call

from gpu_course.measure.model import GPT, Shape, drawn_gpt, next_token_loss, random_tokens

TINY = Shape(hidden=32, heads=4, layers=4, sequence=16, vocabulary=64, dropout=0.0)
"""The model of the lessons on sharding: six units, 55,488 parameters."""


class _Entry(nn.Module):
    """Tokens become vectors."""

    def __init__(self, model: GPT) -> None:
        super().__init__()
        self.tokens, self.places = model.tokens, model.places

    def forward(self, tokens: Tensor) -> Tensor:
        return self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))


class _Exit(nn.Module):
    """Vectors become logits, and these the loss."""

    def __init__(self, model: GPT, tokens: Tensor) -> None:
        super().__init__()
        self.norm, self.head = model.norm, model.head
        self._tokens = tokens

    def forward(self, x: Tensor) -> Tensor:
        return next_token_loss(self.head(self.norm(x)), self._tokens)


class Unit:
    """A part of a model that is a function of its weights and of what the part before it gave.

    Args:
        name: "entry", "layer 0" ..., "exit".
        module: gives the form of the weights; its own are not used.
    """

    def __init__(self, name: str, module: nn.Module) -> None:
        self.name = name
        self._module = module
        self._forms = [(name, p.shape) for name, p in module.named_parameters()]
        self.length = sum(shape.numel() for _, shape in self._forms)

    def own_weights(self) -> Tensor:
        """Returns the weights that the module itself holds, (length,)."""
        return flat(list(self._module.parameters()))

    def forward(self, weights: Tensor, x: Tensor) -> Tensor:
        """Returns what the unit makes of x; nothing is kept for a backward pass.

        Args:
            weights: (length,).
            x: tokens for the entry, else (b, s, h).
        """
        with torch.no_grad():
            return self.call(weights, x)

    def backward(
        self, weights: Tensor, x: Tensor, gradient: Tensor
    ) -> tuple[Tensor | None, Tensor]:
        """Returns the gradients of x (None for tokens) and of the weights, (length,).

        The unit is computed once more first, as with checkpointing.

        Args:
            weights, x: as forward had them.
            gradient: of what forward gave, in its shape.
        """
        leaf = weights.detach().requires_grad_()
        given = x.detach().requires_grad_(x.is_floating_point())
        with torch.enable_grad():
            y = self.call(leaf, given)
            wanted = (leaf, given) if given.requires_grad else (leaf,)
            found = torch.autograd.grad(y, wanted, gradient)
        return (found[1] if len(found) > 1 else None), found[0]

    def call(self, weights: Tensor, x: Tensor) -> Tensor:
        """Returns what the unit makes of x, under autograd as it is."""
        parts = weights.split([shape.numel() for _, shape in self._forms])
        named = {
            name: part.view(shape) for (name, shape), part in zip(self._forms, parts, strict=True)
        }
        result: Tensor = functional_call(self._module, named, (x,))
        return result


def units_of(model: GPT, tokens: Tensor) -> list[Unit]:
    """Returns the units of a model: the entry, its layers, and the exit, which gives the loss.

    Args:
        model: gives the form; its weights are not used.
        tokens: (b, s) of int64, of which the loss is taken.
    """
    layers = [Unit(f"layer {k}", layer) for k, layer in enumerate(model.layers)]
    return [Unit("entry", _Entry(model)), *layers, Unit("exit", _Exit(model, tokens))]


def tiny(rank: int = 0, shape: Shape = TINY) -> tuple[list[Unit], list[Tensor], Tensor]:
    """Returns (units, weights of each, tokens) of a small GPT in float64.

    Args:
        rank: whose batch of two sequences it is; the weights are the same for all.
        shape: of the model.

    >>> units, weights, tokens = tiny()
    >>> [unit.length for unit in units], tuple(tokens.shape)
    ([2560, 12704, 12704, 12704, 12704, 2112], (2, 16))
    """
    tokens = random_tokens(shape, 2, seed=rank)
    units = units_of(drawn_gpt(shape), tokens)
    return units, [unit.own_weights() for unit in units], tokens


def flat(tensors: Sequence[Tensor]) -> Tensor:
    """Returns the numbers of tensors behind each other."""
    return torch.cat([tensor.detach().reshape(-1) for tensor in tensors])

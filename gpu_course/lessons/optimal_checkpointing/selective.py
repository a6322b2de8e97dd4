"""A region of layers that saves chosen products and runs the rest again, by PyTorch's own contexts.

Under `create_selective_checkpoint_contexts` a region keeps the outputs of the operators its policy
picks. In the backward pass everything that was not saved is run again, whether or not it is needed:
what a plan costs is the sum of what it leaves out. (PyTorch ends the second run early, with the
last thing that is needed. In training that is the mask of a layer's last dropout, which stands
behind its last product; without dropout the last product of a region would not run again.)
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import (
    CheckpointPolicy,
    SelectiveCheckpointContext,
    checkpoint,
    create_selective_checkpoint_contexts,
)
from torch.utils.flop_counter import FlopCounterMode

from gpu_course.measure.activation_formulas import LayerShape
from gpu_course.measure.allocations import mark
from gpu_course.measure.model import Layer
from gpu_course.measure.peak import allocate_gradients, measure_peak

NAMES = ("queries, keys, values", "scores", "mixing", "attention output", "up", "down")
"""The matrix products of a layer of measure.model, in order."""

_aten = torch.ops.aten
PRODUCTS = (_aten.mm.default, _aten.addmm.default, _aten.bmm.default, _aten.baddbmm.default)
BACKWARD = "the backward pass begins"


@dataclass(frozen=True)
class Product:
    """A matrix product of a region.

    Attributes:
        name: which one.
        bytes: of its output, which is what saving it takes.
        flops: of running it once.
    """

    name: str
    bytes: int
    flops: int


@dataclass(frozen=True)
class Selected:
    """What a forward and a backward pass through a region took.

    Attributes:
        loss: the mean of the squares of the region's output.
        gradients: of all parameters, and of the input behind them.
        kept_bytes: alive when the backward pass begins, above parameters, gradients and input.
        flops: of all products, forward, backward and run again.
    """

    loss: float
    gradients: Tensor
    kept_bytes: int
    flops: int


def products(shape: LayerShape, layers: int = 1, element_bytes: int = 4) -> tuple[Product, ...]:
    """Returns the matrix products of a region of layers, by formula.

    Args:
        shape: of a layer.
        layers: how many.
        element_bytes: of one number.

    >>> [p.flops for p in products(LayerShape(sequence=2, batch=1, hidden=4, heads=2))]
    [192, 32, 32, 64, 256, 256]
    """
    n, h, s = shape.sbh, shape.hidden, shape.sequence
    numbers = (3 * n, shape.scores, n, n, 4 * n, n)
    flops = (6 * n * h, 2 * n * s, 2 * n * s, 2 * n * h, 8 * n * h, 8 * n * h)
    return tuple(
        Product(f"layer {layer}, {name}", element_bytes * count, cost)
        for layer in range(layers)
        for name, count, cost in zip(NAMES, numbers, flops, strict=True)
    )


def region(shape: LayerShape, layers: int, seed: int) -> tuple[nn.Module, Tensor]:
    """Returns real layers one behind the other, and an input for them that asks for a gradient.

    Args:
        shape: of a layer and its input, float32.
        layers: how many.
        seed: of parameters and input.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        module = nn.Sequential(*(Layer(shape.hidden, shape.heads) for _ in range(layers)))
        x = torch.randn(shape.batch, shape.sequence, shape.hidden)
    return module, x.requires_grad_()


def run_selective(
    module: nn.Module, x: Tensor, saved: Collection[int] | None, seed: int = 0
) -> Selected:
    """Returns what a forward and a backward pass took, with the products `saved` kept.

    Args:
        module: whose products are counted in the order they run; its gradients are set to 0.
        x: its input.
        saved: numbers of products whose outputs are kept; everything else is run again. None for
            the plain run, which keeps all and runs nothing again.
        seed: of the random numbers drawn on the way.
    """

    def run() -> float:
        if saved is None:
            y = module(x)
        else:
            contexts = partial(create_selective_checkpoint_contexts, _policy(frozenset(saved)))
            y = checkpoint(module, x, use_reentrant=False, context_fn=contexts)
        loss = (y * y).mean()
        with mark(BACKWARD):
            loss.backward()
        return loss.item()

    with torch.random.fork_rng(devices=[]):
        _ready(module, x, seed)
        with FlopCounterMode(display=False) as flops:
            run()
        _ready(module, x, seed)
        peak = measure_peak(run)
    (begin,) = peak.moments(BACKWARD)
    gradients = [p.grad.flatten() for p in (*module.parameters(), x) if p.grad is not None]
    return Selected(
        peak.value, torch.cat(gradients), peak.live_bytes[begin], flops.get_total_flops()
    )


def _ready(module: nn.Module, x: Tensor, seed: int) -> None:
    torch.manual_seed(seed)
    allocate_gradients(module)
    x.grad = torch.zeros_like(x)


def _policy(saved: frozenset[int]) -> Any:
    """The policy that keeps the products of these numbers; it counts each run on its own."""
    counts = {False: 0, True: 0}

    def policy(
        context: SelectiveCheckpointContext, operator: Any, *args: Any, **kwargs: Any
    ) -> CheckpointPolicy:
        if operator not in PRODUCTS:
            return CheckpointPolicy.PREFER_RECOMPUTE
        number = counts[context.is_recompute]
        counts[context.is_recompute] += 1
        return CheckpointPolicy.MUST_SAVE if number in saved else CheckpointPolicy.PREFER_RECOMPUTE

    return policy

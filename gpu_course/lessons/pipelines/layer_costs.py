"""What each layer of the course's GPT takes on this machine, embedding and head included.

    costs = measured_layer_costs()
    [cost.name for cost in costs]        # embedding, layer 0, ..., head
    costs[-1].forward_us, costs[-1].backward_us

They are measured, not counted: a lookup has no FLOP, and a head of a wide vocabulary costs as much
as layers. Each is run alone, forward and backward, several times, and its fastest run counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from gpu_course.measure.model import GPT, Shape
from gpu_course.measure.threads import one_thread

SMALL = Shape(hidden=96, heads=4, layers=6, sequence=48, vocabulary=6000, dropout=0.0)
"""A GPT whose head costs as much as some layers, and which a laptop runs in milliseconds."""
MICRO = 1e6


@dataclass(frozen=True)
class LayerCost:
    """What a part of a model takes for one microbatch.

    Attributes:
        name: "embedding", "layer 0" and so on, "head".
        forward_us, backward_us: microseconds.
    """

    name: str
    forward_us: float
    backward_us: float

    @property
    def us(self) -> int:
        """Both ways, in whole microseconds, at least 1: as puzzle `balance` takes it."""
        return max(1, round(self.forward_us + self.backward_us))


def measured_layer_costs(
    shape: Shape = SMALL,
    batch: int = 2,
    times: int = 5,
    clock: Callable[[], float] = time.perf_counter,
) -> list[LayerCost]:
    """Returns what each part of a GPT takes here, on one thread, in the order of the parts.

    The embedding is the lookup of tokens and of places; the head is the last norm, the product with
    the vocabulary and the loss.

    Args:
        shape: of the GPT.
        batch: rows of a microbatch.
        times: how often each part is run; the fastest run counts.
        clock: seconds from any beginning.
    """
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = GPT(shape)
        tokens = torch.randint(0, shape.vocabulary, (batch, shape.sequence))
        states = torch.randn(batch, shape.sequence, shape.hidden)
        parts: list[tuple[str, Callable[[Tensor], Tensor], Tensor]] = [
            ("embedding", _embedding(model), tokens),
            *((f"layer {n}", layer, states) for n, layer in enumerate(model.layers)),
            ("head", _head(model, tokens), states),
        ]
        return [LayerCost(name, *_fastest(run, x, times, clock)) for name, run, x in parts]


def _embedding(model: GPT) -> Callable[[Tensor], Tensor]:
    places = torch.arange(model.places.num_embeddings)
    return lambda tokens: model.tokens(tokens) + model.places(places)


def _head(model: GPT, targets: Tensor) -> Callable[[Tensor], Tensor]:
    last: nn.Module = nn.Sequential(model.norm, model.head)
    return lambda states: cross_entropy(last(states).flatten(0, 1), targets.flatten())


def _fastest(
    run: Callable[[Tensor], Tensor], x: Tensor, times: int, clock: Callable[[], float]
) -> tuple[float, float]:
    """Returns the microseconds of the fastest way forward and of the fastest way back."""
    forward = backward = float("inf")
    for _ in range(times + 1):  # The first run makes what later ones find, such as gradients.
        given = x.clone().requires_grad_(x.is_floating_point())
        begin = clock()
        output = run(given)
        middle = clock()
        output.backward(torch.ones_like(output))  # type: ignore[no-untyped-call]
        end = clock()
        forward, backward = min(forward, middle - begin), min(backward, end - middle)
    return MICRO * forward, MICRO * backward

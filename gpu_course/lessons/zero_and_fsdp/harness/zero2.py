"""Harness of `zero2`: two steps on a real model; the parameters, and gradients held meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.lessons.zero_and_fsdp.alive import Alive
from gpu_course.lessons.zero_and_fsdp.units import flat
from gpu_course.measure.model import GPT, Shape, next_token_loss
from gpu_course.puzzle.harness import Unusable

if TYPE_CHECKING:
    from torch import Tensor, nn

STEPS = 2


def run(
    answer: ModuleType,
    weights: np.ndarray,
    tokens: np.ndarray,
    owners: list[int],
    rank: int,
    shape: dict[str, int],
    adam: dict[str, float],
) -> dict[str, Any]:
    """Returns the parameters after two steps, and the bytes of gradients held beside the own ones.

    Beside these: how many gradients are left once a step is over.
    """
    import torch

    model, batch = model_of(weights, shape), torch.from_numpy(tokens)
    parameters = list(model.parameters())
    optimizer = torch.optim.Adam(
        parameters, lr=adam["rate"], betas=(adam["beta_1"], adam["beta_2"]), eps=adam["epsilon"]
    )
    for p in (p for p, o in zip(parameters, owners, strict=True) if o == rank):
        p.grad = torch.zeros_like(p)
    # The states of Adam are there from now on, so that an update during backward() makes none.
    optimizer.step()
    optimizer.zero_grad()
    for state in optimizer.state.values():
        state["step"].zero_()
    own = [8 * p.numel() if o == rank else 0 for p, o in zip(parameters, owners, strict=True)]
    bare = _alive(lambda: _dropping(model, batch, parameters), parameters, [1 << 60] * len(own))
    left = 0

    def backward() -> None:
        next_token_loss(model(batch), batch).backward()

    def update(k: int) -> None:
        if owners[k] != rank:
            raise Unusable(f"update({k}) is called on rank {rank}, which does not own it", "owner")
        if parameters[k].grad is None:
            raise Unusable(f"update({k}) is called, and parameter {k} has no gradient", "owner")
        others = [p for j, p in enumerate(parameters) if j != k]
        kept = [p.grad for p in others]
        for p in others:
            p.grad = None
        optimizer.step()
        for p, gradient in zip(others, kept, strict=True):
            p.grad = gradient

    def step() -> None:
        nonlocal left
        answer.zero2(parameters, list(owners), backward, update)
        left = max(left, sum(p.grad is not None for p in parameters))

    without, kept = [0] * len(own), 0
    for k, size in bare.items():
        without[k] = size + kept
        kept += own[k]
    held = _alive(step, parameters, without)
    for _ in range(STEPS - 1):
        step()
    return {
        "result": flat(parameters).numpy(),
        "held_bytes": max([0, *(size - without[k] for k, size in held.items())]),
        "gradients_left": left,
    }


def model_of(weights: np.ndarray, shape: dict[str, int]) -> GPT:
    """Returns a model in float64 with these weights.

    Args:
        weights: (parameters,) in the order of the model.
        shape: its numbers, without dropout.
    """
    import torch
    from torch import nn

    model = GPT(Shape(**shape, dropout=0.0)).double()
    # A copy: the model's parameters change, and what was handed in must not.
    nn.utils.vector_to_parameters(torch.from_numpy(weights.copy()), model.parameters())
    return model


def _dropping(model: GPT, batch: Tensor, parameters: Sequence[nn.Parameter]) -> None:
    """Runs a backward pass whose gradients are gone as soon as they are there."""

    def drop(parameter: Tensor) -> None:
        parameter.grad = None

    handles = [p.register_post_accumulate_grad_hook(drop) for p in parameters]
    next_token_loss(model(batch), batch).backward()
    for handle in handles:
        handle.remove()


def _alive(
    run: Callable[[], None], parameters: Sequence[nn.Parameter], room: Sequence[int]
) -> dict[int, int]:
    """Returns {parameter: bytes alive} when its gradient is there for the first time, in order.

    Args:
        run: has a backward pass in it.
        parameters: of the model.
        room: for each parameter, bytes from which on it is worth waiting for a backend's thread.
    """
    found: dict[int, int] = {}

    def note(k: int) -> Callable[[Tensor], None]:
        def hook(_: Tensor) -> None:
            if k not in found:
                found[k] = alive.bytes_settled(room[k])

        return hook

    handles = [p.register_post_accumulate_grad_hook(note(k)) for k, p in enumerate(parameters)]
    with Alive() as alive:
        run()
    for handle in handles:
        handle.remove()
    return found

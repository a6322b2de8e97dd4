"""Harness of data parallelism: an answer's hooks on a replica, a few steps, and marks on the way.

On each rank it makes the model, has the answer prepare it, and trains. Between the answer's calls
it marks where the backward pass stands, so that whoever reads the calls sees when each began.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator, nullcontext
from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.lessons.data_parallel.replicas import (
    Replica,
    descend,
    flat_gradients,
    flat_weights,
    loss_of,
    microbatches,
    replica,
)
from gpu_course.puzzle.harness import Unusable
from gpu_course.ranks.wire import mark

BEGINS, ENDS = 1000, 1001
"""Marks of a backward pass; the number of a parameter marks that its gradient is there."""
PREPARED = 1002
RATE = 0.25


class Stopped(Exception):
    """Is raised within a pause, as an error of the learner's own model would be."""


def run(
    answer: ModuleType,
    widths: list[int],
    extras: int,
    weights: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    beside: bool,
    bucket_bytes: int = 0,
    stops: bool = False,
) -> dict[str, Any]:
    """Returns the gradients of every step, the weights at the end, and who had no gradient.

    Args:
        widths, extras, weights: of the model, as `replica` takes them.
        x, y: (steps, microbatches, rows, width) float64, of this rank.
        beside: whether this rank uses the layer beside the others.
        bucket_bytes: is handed on to `bucketed`.
        stops: True for an error in a last pause of `no_sync`, which the caller catches.
    """
    model = replica(widths, extras, weights)
    for number, parameter in enumerate(model.parameters()):
        if parameter.requires_grad:
            parameter.register_post_accumulate_grad_hook(lambda _, number=number: mark(number))
    finish, pause = _prepared(answer, model, bucket_bytes)
    mark(PREPARED)
    found = []
    for parts in microbatches(x, y):
        last = len(parts) - 1
        for part, (rows, wanted) in enumerate(parts):
            if stops and part == last:
                _stopped(pause)
                stops = False
            with nullcontext() if part == last else pause():
                mark(BEGINS)
                (loss_of(model, rows, wanted, beside) / len(parts)).backward()
                mark(ENDS)
        finish()
        found.append(flat_gradients(model))
        descend(model, RATE)
    return {
        "weights": flat_weights(model),
        "gradients": np.stack([gradients for gradients, _ in found]),
        "without": np.stack([missing for _, missing in found]),
    }


def _prepared(
    answer: ModuleType, model: Replica, bucket_bytes: int
) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Returns what is called after a backward pass, and what pauses."""
    if hasattr(answer, "ddp"):
        answer.ddp(model)
        return _nothing, nullcontext
    if hasattr(answer, "bucketed"):
        finish = answer.bucketed(model, bucket_bytes)
        if not callable(finish):
            raise Unusable("bucketed returned nothing that can be called: return finish")
        return finish, nullcontext
    pause = answer.no_sync(model)
    if not callable(pause):
        raise Unusable("no_sync returned nothing that can be called: return pause")
    if isinstance(pause, ContextDecorator):
        raise Unusable("no_sync returned one pause; return pause, without brackets")
    return _nothing, pause


def _nothing() -> None:
    return None


def _stopped(pause: Callable[[], Any]) -> None:
    try:
        with pause():
            raise Stopped
    except Stopped:
        return
    raise Unusable("an error that is raised in a pause does not come out of it", "swallowed")

"""Harness of `elastic_restart`: a run without a failure, one that is killed, and two that go on.

A rank that is killed takes the whole run with it, as a launcher sees to. So the run that is killed
is one that ends early, what it returns is thrown away, and its last checkpoint is what is left. All
runs share one group of processes; a run on fewer ranks is one of a part of them.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.puzzle.harness import Unusable

if TYPE_CHECKING:
    from torch import Tensor

NUMBER_BYTES = 8
Parts = list[dict[str, Any]]


def run(
    answer: ModuleType,
    parameters: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    order: list[int],
    batch: int,
    steps: int,
    killed: int,
    every: int,
    before: int,
    after: int,
) -> dict[str, Any]:
    """Returns the parameters of three runs, and what was seen and saved on the way.

    Args:
        answer: the learner's module.
        parameters: (length,) float64.
        x, y: (samples, length) and (samples,) float64.
        order, batch, steps, every: as the puzzle has them.
        killed: after how many steps the second run is killed.
        before: on how many ranks the first three runs are.
        after: on how many the last one is.
    """
    import torch
    import torch.distributed as dist

    rank = dist.get_rank()
    groups = {n: dist.new_group(list(range(n))) for n in dict.fromkeys((before, after))}
    rows, wanted, begin = (torch.from_numpy(each) for each in (x, y, parameters))
    seen: list[list[int]] = []
    saved: list[list[tuple[int, int]]] = []

    def trained(until: int, ranks: int, checkpoint: Parts | None) -> tuple[np.ndarray, Any]:
        """Returns what a run gave on this rank, and the part that it saved last."""
        dist.barrier()  # tells runs apart, for whoever reads the calls
        if rank >= ranks:
            return np.zeros(0), None
        seen.append([])
        saved.append([])
        last: list[Any] = []

        def gradient(weights: Tensor, samples: list[int]) -> Tensor:
            seen[-1] += [int(sample) for sample in samples]
            return _gradient(rows, wanted, weights, list(samples))

        def save(part: dict[str, Any]) -> None:
            # Nothing is copied yet: what a writer finds is what is there when it comes to it.
            saved[-1].append((len(seen[-1]), _numbers(part)))
            last[:] = [part]

        found = answer.elastic_restart(
            begin.clone(), gradient, list(order), batch, until, every, save, checkpoint,
            groups[ranks],
        )  # fmt: skip
        if found is None:
            raise Unusable(
                "elastic_restart returned None: the parameters are due", "missing-output"
            )
        written = _copied(last[0]) if last else None
        return np.asarray(found.detach().numpy() if hasattr(found, "detach") else found), written

    whole, _ = trained(steps, before, None)
    _, part = trained(killed, before, None)
    parts: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(parts, part)
    left = [each for each in parts[:before] if each is not None]
    if left and len(left) < before:
        raise Unusable("some ranks have saved a part, and others none", "no-part")
    again: Callable[[], Parts | None] = lambda: [_copied(each) for each in left] or None  # noqa: E731 one line is enough
    same, _ = trained(steps, before, again())
    other, _ = trained(steps, after, again())
    return {"whole": whole, "same": same, "other": other, "seen": seen, "saved": saved}


def _gradient(rows: Tensor, wanted: Tensor, weights: Tensor, samples: list[int]) -> Tensor:
    """The sum over the samples of the gradient of (tanh(row . weights) - wanted) ** 2 / 2."""
    import torch

    mine = rows[samples]
    out = torch.tanh(mine @ weights.detach())
    return ((out - wanted[samples]) * (1 - out**2)) @ mine


def _numbers(part: Any) -> int:
    """Returns how many numbers of eight bytes a part holds.

    Raises:
        Unusable: it is no dict of tensors and numbers.
    """
    if not isinstance(part, dict) or not all(isinstance(name, str) for name in part):
        raise Unusable("a part is a dict whose keys are names", "part-of-another-form")
    found = 0
    for name, value in part.items():
        if hasattr(value, "numel"):
            found += -(-int(value.numel() * value.element_size()) // NUMBER_BYTES)
        elif isinstance(value, float) or (isinstance(value, int) and abs(value) < 1 << 63):
            found += 1
        else:
            fact = f"{name!r} of a part is a {type(value).__name__}, no tensor or number"
            raise Unusable(fact, "part-of-another-form")
    return found


def _copied(part: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.detach().clone() if hasattr(value, "detach") else value
        for name, value in part.items()
    }

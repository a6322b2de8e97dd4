"""Harness of `zero3`: a step over sharded units; gradient slices, and what each use found alive."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.lessons.zero_and_fsdp.alive import Alive
from gpu_course.lessons.zero_and_fsdp.units import Unit, units_of
from gpu_course.measure.model import GPT, Shape
from gpu_course.puzzle.harness import Unusable

if TYPE_CHECKING:
    from torch import Tensor


class Watched:
    """A unit whose uses are noted: how many calls had begun, and what was alive.

    Args:
        unit: does the work.
        number: its place in the model.
        uses: where to note [direction, unit, calls begun, bytes alive].
        alive: knows what is alive.
        room: bytes that may be alive at a forward and at a backward use of this unit.
    """

    def __init__(
        self, unit: Unit, number: int, uses: list[list[Any]], alive: Alive, room: tuple[int, int]
    ) -> None:
        self.length = unit.length
        self._unit, self._number, self._uses = unit, number, uses
        self._alive, self._room = alive, room

    def forward(self, weights: Tensor, x: Tensor) -> Tensor:
        """Returns what the unit makes of x."""
        self._note("forward", weights, self._room[0])
        return self._unit.forward(weights, x)

    def backward(
        self, weights: Tensor, x: Tensor, gradient: Tensor
    ) -> tuple[Tensor | None, Tensor]:
        """Returns the gradients of x and of the weights."""
        self._note("backward", weights, self._room[1])
        return self._unit.backward(weights, x, gradient)

    def _note(self, direction: str, weights: Tensor, room: int) -> None:
        form = tuple(getattr(weights, "shape", ())) or type(weights).__name__
        if form != (self.length,):
            fact = f"unit {self._number} is given weights of {form}, and has {self.length}"
            raise Unusable(fact, "weights-length")
        needed = (weights.storage_offset() + weights.numel()) * weights.element_size()
        if weights.untyped_storage().nbytes() < needed:
            fact = f"the weights of unit {self._number} are freed before its {direction} pass"
            raise Unusable(fact, "freed")
        held = self._alive.bytes_settled(room)
        self._uses.append([direction, self._number, _begun(), held])


def _begun() -> int:
    """Returns how many calls this rank has begun."""
    from torch.distributed import distributed_c10d

    group: Any = distributed_c10d._get_default_group()
    return int(group.begun)


def run(
    answer: ModuleType,
    shards: list[np.ndarray],
    tokens: np.ndarray,
    shape: dict[str, int],
    room: list[list[int]],
) -> dict[str, Any]:
    """Returns this rank's slices of the mean gradient, and every use of a unit in order."""
    import torch
    import torch.distributed as dist

    batch = torch.from_numpy(tokens)
    model = GPT(Shape(**shape, dropout=0.0)).double()
    own = [torch.from_numpy(shard) for shard in shards]
    uses: list[list[Any]] = []
    first = _begun()
    with Alive() as alive:
        units = [
            Watched(unit, k, uses, alive, (room[k][0], room[k][1]))
            for k, unit in enumerate(units_of(model, batch))
        ]
        result = answer.zero3(units, own, batch)
    if not isinstance(result, list | tuple) or len(result) != len(own):
        raise Unusable(f"zero3 is to return {len(own)} slices, one for each unit", "slices")
    if not all(isinstance(each, torch.Tensor) for each in result):
        raise Unusable("zero3 is to return tensors, a slice for each unit", "slices")
    return {
        "result": [each.detach().numpy() for each in result],
        "uses": [[direction, k, begun - first, held] for direction, k, begun, held in uses],
        "rank": dist.get_rank(),
    }

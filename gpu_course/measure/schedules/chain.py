"""A chain of stages as a planner sees it: bytes and costs, no tensors."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from gpu_course.errors import CourseError


@dataclass(frozen=True)
class Stage:
    """One stage of a chain: from its input to its output, and back.

    Attributes:
        output_bytes: of its output.
        saved_bytes: what a forward pass that saves everything leaves beside input and output.
        forward_bytes: how far a forward pass that saves nothing rises, its output included.
        forward_saving_bytes: how far one that saves everything rises, output and saved included.
        backward_bytes: how far the backward pass rises above its start, where the input, the
            output, what was saved and the gradient of the output are there.
        output_gradient_bytes: of the gradient of its output.
        forward_cost: of one forward pass, in FLOP or in any other unit.
        backward_cost: of the backward pass, in the same unit.
    """

    output_bytes: int
    saved_bytes: int
    forward_bytes: int
    forward_saving_bytes: int
    backward_bytes: int
    output_gradient_bytes: int
    forward_cost: int = 1
    backward_cost: int = 2


@dataclass(frozen=True)
class Chain:
    """Stages 0 .. L-1, each fed by the one before; stage 0 is fed by the batch.

    The batch is there before the run and after it, so its bytes count for nothing; the parameters
    and their gradients are left out in the same way. The last stage computes the loss.

    Attributes:
        stages: in order.
        slot_bytes: how many bytes one unit of the sizes stands for; 1 before `in_slots`.
    """

    stages: tuple[Stage, ...]
    slot_bytes: int = 1

    def __len__(self) -> int:
        return len(self.stages)

    def input_bytes(self, stage: int) -> int:
        """Returns what a kept input of a stage costs: nothing for the batch."""
        return self.stages[stage - 1].output_bytes if stage else 0

    def in_slots(self, slot_bytes: int) -> Chain:
        """Returns the chain with every size rounded up to whole slots of memory.

        A schedule that fits in k slots then fits in k * slot_bytes bytes.

        Args:
            slot_bytes: the size of a slot.

        Raises:
            CourseError: a slot of less than one byte, or a chain that is in slots already.
        """
        if slot_bytes < 1 or self.slot_bytes != 1:
            raise CourseError(
                f"a chain cannot be cut into slots of {slot_bytes} of its units",
                "take a chain in bytes, and slots of one byte or more",
            )
        return Chain(tuple(_rounded(stage, slot_bytes) for stage in self.stages), slot_bytes)


def uniform(length: int, *, output_bytes: int = 1) -> Chain:
    """Returns a chain of equal stages whose only sizes are their outputs: the textbook's chain.

    A forward pass costs 1; the backward pass costs nothing, so that a schedule's cost is the number
    of forward passes it runs.

    Args:
        length: how many stages.
        output_bytes: of each stage's output.

    >>> uniform(3).input_bytes(0), uniform(3).input_bytes(2)
    (0, 1)
    """
    size = output_bytes
    stage = Stage(size, 0, size, size, 0, 0, forward_cost=1, backward_cost=0)
    return Chain((stage,) * length)


def _rounded(stage: Stage, slot: int) -> Stage:
    """Every quantity a peak is put together from, rounded up by itself."""
    output = _up(stage.output_bytes, slot)
    saved = _up(stage.saved_bytes, slot)
    return replace(
        stage,
        output_bytes=output,
        saved_bytes=saved,
        forward_bytes=_up(stage.forward_bytes, slot),
        forward_saving_bytes=max(_up(stage.forward_saving_bytes, slot), output + saved),
        backward_bytes=_up(stage.backward_bytes, slot),
        output_gradient_bytes=_up(stage.output_gradient_bytes, slot),
    )


def _up(size: int, slot: int) -> int:
    return math.ceil(size / slot) if size > 0 else 0

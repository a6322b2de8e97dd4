"""Follows a schedule on real PyTorch modules, to the bit of what the plain run would do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from gpu_course.measure.allocations import mark
from gpu_course.measure.schedules.operations import Kind, Operation, Schedule, ScheduleError
from gpu_course.measure.schedules.rules import (
    check_loss,
    fingerprint,
    other_bits,
    refuse_shared_gradients,
    run_stage,
)

RANDOM_STATE_BYTES = torch.get_rng_state().numel()
"""What looking at the state of PyTorch's generator takes from the allocator for a moment."""


def plain(stages: Sequence[nn.Module], batch: Tensor) -> float:
    """Returns the loss after one ordinary forward and backward pass: everything is kept.

    Args:
        stages: modules of one input and one output, the last of which computes the loss.
        batch: what the first stage gets.

    Raises:
        CourseError: a stage that no schedule could run: see `rules.run_stage`.
    """
    value = batch
    for number, stage in enumerate(stages):
        value = run_stage(number, stage, value)
    check_loss(stages, value)
    value.backward()  # type: ignore[no-untyped-call]
    return value.item()


def execute(stages: Sequence[nn.Module], batch: Tensor, schedule: Schedule) -> float:
    """Returns the loss after following a schedule; gradients are added to the parameters' .grad.

    Gradients, buffers and the random state end up as after `plain`, bit for bit: a stage that is
    run again draws the same random numbers, and only its last forward pass changes its buffers
    (the running statistics of a BatchNorm move once).

    That holds on a CPU with one thread, for stages whose second run is the first one over again.
    A stage whose second run gives other bits is refused when it does: an nn.LSTM takes another
    kernel where no gradient is wanted. What goes from stage to stage through a global variable is
    seen by nobody.

    Args:
        stages: modules of one input and one output, the last of which computes the loss.
        batch: what the first stage gets.
        schedule: as `operations.account` accepts it.

    Raises:
        ScheduleError: an operation needs what is not there.
        CourseError: a stage changed its input in place, returned no tensor, left one in an
            attribute, or gave other bits when it was run again; or two stages share a parameter
            that has a gradient already.
    """
    refuse_shared_gradients(stages)
    run = _Run(stages, batch, schedule)
    for operation in schedule:
        with mark(str(operation)):
            run.do(operation)
    if run.loss is None or run.next_backward:
        raise ScheduleError(
            "the schedule ends before the backward pass of the first stage",
            "every stage from the last to the first needs one backward pass",
        )
    return run.loss


class _Run:
    """The tensors that are in memory while a schedule is followed."""

    def __init__(self, stages: Sequence[nn.Module], batch: Tensor, schedule: Schedule) -> None:
        self.stages = stages
        self.kept: dict[int, Tensor] = {0: batch}
        self.saved: dict[int, tuple[Tensor, Tensor]] = {}
        self.head: tuple[int, Tensor] | None = None
        self.gradient: Tensor | None = None
        self.next_backward = len(stages)
        self.loss: float | None = None
        self.runs_left = Counter(o.stage for o in schedule if _is_forward(o))
        self.runs = dict(self.runs_left)
        self.random_states: dict[int, bytearray] = {}
        self.outputs: dict[int, int] = {}
        """Fingerprints of what stages gave that are run more than once."""

    def do(self, operation: Operation) -> None:
        kind, stage = operation.kind, operation.stage
        if kind is Kind.backward:
            self._backward(stage)
        elif kind is Kind.drop:
            del self.kept[stage]
        else:
            self._forward(kind, stage, self._input(operation))

    def _input(self, operation: Operation) -> Tensor:
        stage = operation.stage
        if stage in self.kept:
            value = self.kept[stage]
        elif self.head is not None and self.head[0] == stage:
            value = self.head[1]
        elif stage - 1 in self.saved:
            value = self.saved[stage - 1][1].detach()
        else:
            raise ScheduleError(
                f"{operation} cannot be done: its input is not in memory",
                "operations.account finds the place in the schedule",
            )
        # What was computed beyond this value is let go, and the value is no longer only the head's.
        self.head = None
        return value

    def _forward(self, kind: Kind, stage: int, value: Tensor) -> None:
        module = self.stages[stage]
        if kind is not Kind.forward:
            self.kept[stage] = value
        with self._as_the_first_time(stage, module):
            if kind is Kind.save_all:
                start = value.detach()
                start.requires_grad_(stage > 0 and value.is_floating_point())
                output = run_stage(stage, module, start)
                self._same_as_before(stage, module, output, "with a graph")
                self.saved[stage] = start, output
            else:
                with torch.no_grad():
                    output = run_stage(stage, module, value)
                self._same_as_before(stage, module, output, "without a graph")
                self.head = stage + 1, output

    def _same_as_before(self, stage: int, module: nn.Module, output: Tensor, place: str) -> None:
        """Raises where a stage gave something else than the last time."""
        if self.runs[stage] > 1:
            bits = fingerprint(output)
            if self.outputs.setdefault(stage, bits) != bits:
                raise other_bits(stage, module, place)

    @contextmanager
    def _as_the_first_time(self, stage: int, module: nn.Module) -> Iterator[None]:
        """Every run of a stage draws the same random numbers; the last one changes its buffers."""
        again = stage in self.random_states
        now = None
        if self.runs[stage] > 1:
            now = bytearray(torch.get_rng_state().numpy().tobytes())
            if again:
                _set_random_state(self.random_states[stage])
            else:
                self.random_states[stage] = now
        self.runs_left[stage] -= 1
        before = [] if not self.runs_left[stage] else [b.clone() for b in module.buffers()]
        yield
        for buffer, old in zip(module.buffers(), before, strict=bool(before)):
            # Not a change that autograd has to know of: nothing was computed from the new value.
            buffer.data.copy_(old)
        if again and now is not None:
            _set_random_state(now)

    def _backward(self, stage: int) -> None:
        if stage not in self.saved or stage != self.next_backward - 1:
            raise ScheduleError(
                f"backward {stage} cannot be done: its forward pass has not saved everything, or "
                "the gradient of its output is not there",
                "operations.account finds the place in the schedule",
            )
        start, output = self.saved.pop(stage)
        self.head = None
        last = stage == len(self.stages) - 1
        if last:
            check_loss(self.stages, output, graph=False)
            self.loss = output.item()
        # No gradient comes from a stage behind it that has none to give, such as an embedding.
        if output.requires_grad and (last or self.gradient is not None):
            output.backward(self.gradient)  # type: ignore[no-untyped-call]
        self.gradient = start.grad
        self.next_backward = stage
        if stage:
            self.kept.pop(stage, None)


def _is_forward(operation: Operation) -> bool:
    return operation.kind in (Kind.forward, Kind.keep_input, Kind.save_all)


def _set_random_state(state: bytearray) -> None:
    torch.set_rng_state(torch.frombuffer(state, dtype=torch.uint8))

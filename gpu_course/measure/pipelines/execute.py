"""Follows a pipeline schedule on real ranks, with gradients equal to those of one process.

Every rank calls `execute` with the stages it holds. What goes between two ranks is sent under a tag
of its own for each stage, way and microbatch, so that it may come in any order; a send waits for
nobody. At the end each stage's parameters have the sum of the microbatches' gradients in `.grad`.

The backward pass is split by hand: I asks `torch.autograd.grad` for the gradient to the input
alone and keeps the graph, W for those of the parameters. What both need is worked out twice, which
an engine that is built for it does not do; the gradients are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn

from gpu_course.errors import CourseError
from gpu_course.measure.pipelines.actions import BACKWARD, FORWARD, INPUT, WEIGHT, Action, Schedule
from gpu_course.measure.pipelines.rules import faults

Loss = Callable[[Tensor, Tensor], Tensor]


@dataclass
class _Pass:
    """A microbatch on its way through a stage: what F leaves for I and W."""

    input: Tensor
    output: Tensor
    gradient: Tensor | None = None


def execute(
    schedule: Schedule,
    stages: Mapping[int, nn.Module],
    inputs: Sequence[Tensor],
    targets: Sequence[Tensor],
    loss: Loss,
    shapes: Sequence[Sequence[int]],
    dtype: torch.dtype = torch.float64,
    ranks: Sequence[int] | None = None,
) -> list[float]:
    """Returns the microbatches' losses, in order, on the rank of their last stage; [] elsewhere.

    Args:
        schedule: as `rules.faults` accepts it, of as many ranks as the process group has.
        stages: of this rank, by number.
        inputs: what the first stage of its way gets, for each microbatch.
        targets: what the loss gets, for each microbatch.
        loss: of the last stage's output and a target.
        shapes: for each stage the shape of its output for one microbatch.
        dtype: of what is sent.
        ranks: for each rank of the schedule the rank of the process group that follows its order,
            where a pipeline is one of several; None for all ranks there are.

    Raises:
        CourseError: the schedule cannot run, or is for other ranks or stages than are here.
    """
    everybody = range(dist.get_world_size()) if ranks is None else ranks
    _check(schedule, stages, everybody)
    follower = _Follower(schedule, stages, inputs, targets, loss, shapes, dtype, everybody)
    return follower.follow()


def _check(schedule: Schedule, stages: Mapping[int, nn.Module], everybody: Sequence[int]) -> None:
    if found := faults(schedule):
        raise CourseError(f"the schedule cannot run: {found[0].sentence}", "mend it first")
    ranks, rank = len(everybody), everybody.index(dist.get_rank())
    if schedule.ranks != ranks:
        raise CourseError(
            f"the schedule is for {schedule.ranks} ranks, and there are {ranks}",
            "start as many ranks as the schedule has",
        )
    own = {stage for stage, holder in enumerate(schedule.placement) if holder == rank}
    if own != set(stages):
        raise CourseError(
            f"rank {rank} got stages {sorted(stages)}, and the schedule puts {sorted(own)} there",
            "schedule.placement says for each stage which rank holds it",
        )


class _Follower:
    """One rank on its way through its order."""

    def __init__(
        self,
        schedule: Schedule,
        stages: Mapping[int, nn.Module],
        inputs: Sequence[Tensor],
        targets: Sequence[Tensor],
        loss: Loss,
        shapes: Sequence[Sequence[int]],
        dtype: torch.dtype,
        ranks: Sequence[int],
    ) -> None:
        self.schedule, self.stages, self.loss = schedule, stages, loss
        self.inputs, self.targets, self.shapes, self.dtype = inputs, targets, shapes, dtype
        self.ranks, self.rank = ranks, ranks.index(dist.get_rank())
        self.each_way = schedule.stages // schedule.ways
        self.passes: dict[tuple[int, int], _Pass] = {}
        self.here: dict[tuple[int, str, int], Tensor] = {}
        self.sends: list[dist.Work] = []
        self.losses: dict[int, float] = {}

    def follow(self) -> list[float]:
        steps = {
            FORWARD: self.forward,
            INPUT: self.input_gradient,
            WEIGHT: self.weight_gradients,
            BACKWARD: self.backward,
        }
        for action in self.schedule.orders[self.rank]:
            try:
                steps[action.kind](action)
            except RuntimeError as error:
                raise self.told(action, error) from error
        for send in self.sends:
            send.wait()
        return [self.losses[each] for each in sorted(self.losses)]

    def first(self, stage: int) -> bool:
        """Whether microbatches come in here."""
        return stage % self.each_way == 0

    def last(self, stage: int) -> bool:
        """Whether their loss is worked out here."""
        return (stage + 1) % self.each_way == 0

    def forward(self, action: Action) -> None:
        stage, each = action.stage, action.microbatch
        if self.first(stage):
            given = self.inputs[each]
        else:
            given = self.get(stage - 1, FORWARD, each, self.shapes[stage - 1]).requires_grad_()
        output = self.stages[stage](given)
        if self.last(stage):
            output = self.loss(output, self.targets[each])
            self.losses[each] = float(output.detach())
        else:
            self.give(stage, FORWARD, each, output.detach(), to=stage + 1)
        self.passes[stage, each] = _Pass(given, output)

    def input_gradient(self, action: Action) -> None:
        there = self.come(action)
        if not self.first(action.stage):
            wanted = torch.autograd.grad(
                there.output, [there.input], there.gradient, retain_graph=True
            )
            self.give(action.stage, INPUT, action.microbatch, wanted[0], to=action.stage - 1)

    def weight_gradients(self, action: Action) -> None:
        there = self.passes.pop((action.stage, action.microbatch))
        own = [each for each in self.stages[action.stage].parameters() if each.requires_grad]
        # A stage may have no parameters, or some that this microbatch does not use.
        found: Sequence[Tensor | None] = ()
        if own:
            given = there.gradient
            found = torch.autograd.grad(there.output, own, given, allow_unused=True)
        for parameter, gradient in zip(own, found, strict=True):
            if gradient is not None:
                parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient

    def backward(self, action: Action) -> None:
        there = self.come(action)
        there.output.backward(there.gradient)  # type: ignore[no-untyped-call]
        del self.passes[action.stage, action.microbatch]
        if not self.first(action.stage):
            assert there.input.grad is not None
            self.give(action.stage, INPUT, action.microbatch, there.input.grad, to=action.stage - 1)

    def come(self, action: Action) -> _Pass:
        """Returns a pass with the gradient of its output, which comes from the stage after it."""
        stage, each = action.stage, action.microbatch
        there = self.passes[stage, each]
        if not self.last(stage):
            there.gradient = self.get(stage + 1, INPUT, each, self.shapes[stage])
        return there

    def told(self, action: Action, error: RuntimeError) -> CourseError:
        """Returns what autograd or the group said, with the rank and the action it was said at."""
        where, words = f"rank {self.rank} cannot do {action}", str(error)
        if "modified by an inplace operation" in words:
            down = Action(action.stage, FORWARD, action.microbatch)
            return CourseError(
                f"{where}: what {down} used has been changed since, such as the weights of stage "
                f"{action.stage}",
                "step once all microbatches are back, or put aside the weights a microbatch used",
            )
        if "does not require grad" in words:
            return CourseError(
                f"{where}: the output of stage {action.stage} leads back to nothing",
                "a gradient gets lost where a stage detaches its output or runs under no_grad",
            )
        return CourseError(f"{where}: {words}", "the stage itself or the group raised this")

    def give(self, stage: int, kind: str, each: int, value: Tensor, *, to: int) -> None:
        """Sends what a stage made to the rank of another; keeps it, where that is this rank."""
        wanted = tuple(self.shapes[min(stage, to)])
        if tuple(value.shape) != wanted:
            way = "output" if kind == FORWARD else "gradient"
            raise CourseError(
                f"rank {self.rank}: the {way} of stage {stage} has the shape {tuple(value.shape)}, "
                f"and stage {to} waits for {wanted}",
                "give `shapes` the shape of each stage's output for one microbatch",
            )
        holder = self.schedule.placement[to]
        if holder == self.rank:
            self.here[stage, kind, each] = value
            return
        send = dist.isend(value.contiguous(), self.ranks[holder], tag=self.tag(stage, kind, each))
        assert send is not None
        self.sends.append(send)

    def get(self, stage: int, kind: str, each: int, shape: Sequence[int]) -> Tensor:
        """Returns what a stage made, as soon as it is here."""
        holder = self.schedule.placement[stage]
        if holder == self.rank:
            return self.here.pop((stage, kind, each))
        value = torch.empty(*shape, dtype=self.dtype, device=self.inputs[0].device)
        dist.recv(value, self.ranks[holder], tag=self.tag(stage, kind, each))
        return value

    def tag(self, stage: int, kind: str, each: int) -> int:
        way = 0 if kind == FORWARD else 1
        return (each * self.schedule.stages + stage) * 2 + way

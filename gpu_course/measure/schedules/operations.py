"""What a schedule is made of, and what following it takes: memory, cost, forward passes.

A schedule is a sequence of operations on a chain. `account` follows it with nothing but counting,
so it is the judge of every plan, whoever made it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from gpu_course.errors import CourseError
from gpu_course.measure.schedules.chain import Chain


class Kind(StrEnum):
    """What is done at a stage; the first three are forward passes."""

    forward = "forward"  # saves nothing, and lets go of its input
    keep_input = "keep input"  # saves nothing but its input, which becomes a checkpoint
    save_all = "save all"  # keeps its input and everything its backward pass needs
    backward = "backward"  # takes the gradient from the stage's output to its input
    drop = (
        "drop"  # lets go of a checkpoint before its backward pass: only an unrestricted plan does
    )


@dataclass(frozen=True)
class Operation:
    """One step of a schedule: a kind, and the stage it is done at."""

    kind: Kind
    stage: int

    def __str__(self) -> str:
        return f"{self.kind} {self.stage}"


Schedule = tuple[Operation, ...]


class ScheduleError(CourseError):
    """A schedule that cannot be followed: a value it needs is not there."""


@dataclass(frozen=True)
class Account:
    """What a schedule takes.

    Attributes:
        peak: the most memory held at one time, in the chain's unit.
        cost: of all operations, in the chain's unit of cost.
        forward_passes: how often each stage is run forward.
        held: the memory held after each operation, and `rises`, the most during it.
    """

    peak: int
    cost: int
    forward_passes: tuple[int, ...]
    held: tuple[int, ...] = field(repr=False)
    rises: tuple[int, ...] = field(repr=False)


def account(chain: Chain, schedule: Iterable[Operation]) -> Account:
    """Returns what following a schedule takes, from the batch to the gradient of stage 0.

    The gradient of the loss counts as there from the beginning, as the planners count it.

    Args:
        chain: the chain.
        schedule: the operations in order.

    Raises:
        ScheduleError: an operation needs what is not there, or gradients are missing at the end.

    >>> from gpu_course.measure.schedules.chain import uniform
    >>> plain = [Operation(Kind.save_all, i) for i in range(3)]
    >>> plain += [Operation(Kind.backward, i) for i in (2, 1, 0)]
    >>> account(uniform(3), plain).forward_passes
    (1, 1, 1)
    """
    run = _Run(chain)
    held, rises = [], []
    for number, operation in enumerate(schedule):
        rises.append(run.do(number, operation))
        held.append(run.held())
    if run.gradient:
        raise ScheduleError(
            f"the schedule ends before the backward pass of stage {run.gradient - 1}",
            "every stage from the last to the first needs one backward pass",
        )
    return Account(max(rises, default=0), run.cost, tuple(run.passes), tuple(held), tuple(rises))


def account_until(
    chain: Chain, schedule: Iterable[Operation]
) -> tuple[tuple[int, ...], ScheduleError | None]:
    """Returns (the most memory during each operation that can be done, what stops the next one).

    Args:
        chain: the chain.
        schedule: the operations in order; where all can be done, what stops is None.

    >>> from gpu_course.measure.schedules.chain import uniform
    >>> early = [Operation(Kind.save_all, 0), Operation(Kind.backward, 0)]
    >>> rises, stop = account_until(uniform(2), early)
    >>> len(rises), stop is None
    (1, False)
    """
    run, rises = _Run(chain), []
    for number, operation in enumerate(schedule):
        try:
            rises.append(run.do(number, operation))
        except ScheduleError as error:
            return tuple(rises), error
    return tuple(rises), None


class _Run:
    """What is in memory while a schedule is followed."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.kept = {0}  # stages whose input is a checkpoint; the batch always is
        self.saved: set[int] = set()  # stages whose forward pass saved everything
        self.head = 0  # the stage whose input was computed last; it may be in nothing else
        self.gradient = len(chain)  # the gradient of that stage's input is there
        self.cost = 0
        self.passes = [0] * len(chain)

    def has_input(self, stage: int) -> bool:
        return stage in self.kept or stage == self.head or stage - 1 in self.saved

    def held(self) -> int:
        """Checkpoints, everything that was saved, the value at the head, and the gradient."""
        stages = self.chain.stages
        values = self.kept | {stage + 1 for stage in self.saved} | {self.head}
        return (
            sum(self.chain.input_bytes(stage) for stage in values)
            + sum(stages[stage].saved_bytes for stage in self.saved)
            + (stages[self.gradient - 1].output_gradient_bytes if self.gradient else 0)
        )

    def do(self, number: int, operation: Operation) -> int:
        """Does one operation; the most memory held during it."""
        kind, stage = operation.kind, operation.stage
        if not 0 <= stage < len(self.chain):
            raise _impossible(number, operation, f"the chain has {len(self.chain)} stages")
        if kind is Kind.backward:
            return self._backward(number, operation)
        if kind is Kind.drop:
            if stage == 0 or stage not in self.kept:
                raise _impossible(number, operation, "its input is no checkpoint")
            if stage in self.saved:
                raise _impossible(number, operation, "its input belongs to what was saved there")
            before = self.held()
            self.kept.discard(stage)
            return before
        if not self.has_input(stage):
            raise _impossible(number, operation, "its input is not in memory")
        if stage >= self.gradient:
            raise _impossible(number, operation, "its backward pass is done already")
        if kind is Kind.save_all and stage in self.saved:
            raise _impossible(number, operation, "everything of it is saved already")
        return self._forward(kind, stage)

    def _forward(self, kind: Kind, stage: int) -> int:
        here = self.chain.stages[stage]
        self.cost += here.forward_cost
        self.passes[stage] += 1
        self.head = stage  # a value computed beyond it is let go
        if kind is not Kind.forward:
            self.kept.add(stage)
        before = self.held()
        self.head = stage + 1
        if kind is Kind.save_all:
            self.saved.add(stage)
            return before + here.forward_saving_bytes
        return before + here.forward_bytes

    def _backward(self, number: int, operation: Operation) -> int:
        stage = operation.stage
        here = self.chain.stages[stage]
        if stage != self.gradient - 1:
            raise _impossible(
                number,
                operation,
                f"the gradient at hand is that of the output of stage {self.gradient - 1}",
            )
        if stage not in self.saved:
            raise _impossible(number, operation, "its forward pass has not saved everything")
        rise = self.held() + here.backward_bytes
        self.cost += here.backward_cost
        self.saved.discard(stage)
        if stage:
            self.kept.discard(stage)
        self.head = 0
        self.gradient = stage
        return rise


def _impossible(number: int, operation: Operation, why: str) -> ScheduleError:
    return ScheduleError(
        f"operation {number} ({operation}) cannot be done: {why}",
        "follow the schedule by hand up to there",
    )

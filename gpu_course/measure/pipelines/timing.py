"""How long a pipeline schedule takes, and what its ranks hold meanwhile.

    costs = Costs(forward=18.5, input=18.1, weight=9.3, comm=0.6)      # any unit of time
    run = simulate(schedule, costs)
    run.cost                             # the longest that a rank is at it, first start to last end
    run.bubble_rate                      # the share of it in which it does nothing
    run.memory[0]                        # (time, held) of rank 0

A rank does its actions in order, each as soon as it is free and what the action needs has come.
What goes to another rank takes `comm` after its action ends, and keeps nobody busy.

Source: the bubble rate and the memory of F, I and W are those of arXiv 2401.10241, sections 2, 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from gpu_course.errors import CourseError
from gpu_course.measure.pipelines.actions import (
    BACKWARD,
    FORWARD,
    INPUT,
    WEIGHT,
    Action,
    Schedule,
)
from gpu_course.measure.pipelines.rules import as_needed, faults, needs_at

Cost = float | Callable[[int], float]
"""The same for every stage, or a function of the stage."""


@dataclass(frozen=True)
class Costs:
    """What an action takes and what it leaves, in any one unit of time and one of memory.

    Attributes:
        forward, input, weight: time of F, I and W; B takes input + weight.
        comm: time from the end of an action to when another rank has its result.
        activation: memory that F adds.
        kept: of it, what W still needs after I.
        pair: time of an F and a B that are done together; None for as long as one after the other.
    """

    forward: Cost = 1.0
    input: Cost = 1.0
    weight: Cost = 1.0
    comm: float = 0.0
    activation: Cost = 1.0
    kept: Cost = 0.5
    pair: float | None = None

    def time(self, action: Action) -> float:
        """Returns how long an action takes."""
        parts = {
            FORWARD: (self.forward,),
            INPUT: (self.input,),
            WEIGHT: (self.weight,),
            BACKWARD: (self.input, self.weight),
        }[action.kind]
        return sum(_at(part, action.stage) for part in parts)

    def memory(self, action: Action) -> float:
        """Returns what an action adds to its rank's memory, negative where it gives back."""
        activation, kept = _at(self.activation, action.stage), _at(self.kept, action.stage)
        return {
            FORWARD: activation,
            INPUT: kept - activation,
            WEIGHT: -kept,
            BACKWARD: -activation,
        }[action.kind]


def _at(cost: Cost, stage: int) -> float:
    return cost(stage) if callable(cost) else cost


@dataclass(frozen=True)
class Span:
    """One action as it ran: on which rank, from when to when."""

    rank: int
    action: Action
    start: float
    end: float


@dataclass(frozen=True)
class Run:
    """A schedule as it ran.

    Attributes:
        schedule, costs: of what.
        spans: for each rank its actions in order.
        memory: for each rank what it holds from when on, as (time, held); it rises when an action
            begins, and falls when one ends.
    """

    schedule: Schedule
    costs: Costs
    spans: tuple[tuple[Span, ...], ...]
    memory: tuple[tuple[tuple[float, float], ...], ...] = field(repr=False)

    @property
    def end(self) -> float:
        """When the last action ends; the first begins at 0."""
        return max((span[-1].end for span in self.spans if span), default=0.0)

    @property
    def cost(self) -> float:
        """The longest time from a rank's first start to its last end."""
        return max((span[-1].end - span[0].start for span in self.spans if span), default=0.0)

    @property
    def bubble_rate(self) -> float:
        """The share of `cost` in which the busiest rank has nothing to do."""
        return (self.cost - max(self.busy)) / self.cost if self.cost else 0.0

    @property
    def busy(self) -> tuple[float, ...]:
        """For each rank the time in which it is at work."""
        return tuple(sum(each.end - each.start for each in span) for span in self.spans)

    @property
    def peaks(self) -> tuple[float, ...]:
        """For each rank the most it holds at a time."""
        return tuple(max((held for _, held in each), default=0.0) for each in self.memory)

    def bubbles(self, rank: int) -> list[tuple[float, float]]:
        """Returns where a rank waits between its first start and its last end, as (from, to)."""
        spans = self.spans[rank]
        return [(a.end, b.start) for a, b in pairwise(spans) if b.start > a.end]


def simulate(schedule: Schedule, costs: Costs) -> Run:
    """Returns a schedule as it runs, every action as early as it can be.

    Args:
        schedule: one that `rules.faults` finds nothing in.
        costs: what its actions take.

    Raises:
        CourseError: the schedule cannot run; the message is the first fault's.

    >>> from gpu_course.measure.pipelines.orders import gpipe
    >>> simulate(gpipe(ranks=4, microbatches=12), Costs(weight=0)).bubble_rate     # 3 / (12 + 3)
    0.2
    """
    if found := faults(schedule):
        raise CourseError(
            f"the schedule cannot run: {found[0].sentence}",
            "gpu_course.measure.pipelines.rules.faults names all that is wrong with a schedule",
        )
    return as_far_as_it_goes(schedule, costs)


def as_far_as_it_goes(schedule: Schedule, costs: Costs) -> Run:
    """Returns what runs of a schedule that may have faults: each rank stops where it has to wait.

    Args:
        schedule: any table of actions on ranks and stages that there are.
        costs: what its actions take.

    >>> from gpu_course.measure.pipelines.actions import parse
    >>> run = as_far_as_it_goes(parse(["0F0 0B1 0F1 0B0", "1F0 1B0 1F1 1B1"]), Costs())
    >>> [len(spans) for spans in run.spans]         # rank 0 waits for what it would do later
    [1, 2]
    """
    ends: dict[Action, float] = {}
    at, free = [0] * schedule.ranks, [0.0] * schedule.ranks
    spans: list[list[Span]] = [[] for _ in range(schedule.ranks)]
    moved = True
    while moved:
        moved = False
        for rank, order in enumerate(schedule.orders):
            while at[rank] < len(order):
                action = order[at[rank]]
                ready = _ready(schedule, rank, at[rank], ends, costs.comm)
                if ready is None:
                    break
                start = max(free[rank], ready)
                own, until_sent = _took(schedule, rank, at[rank], costs)
                free[rank] = start + own
                # Of an action that is there twice, others wait for the first.
                ends.setdefault(as_needed(action), start + until_sent)
                spans[rank].append(Span(rank, action, start, free[rank]))
                at[rank] += 1
                moved = True
    return Run(
        schedule,
        costs,
        tuple(map(tuple, spans)),
        tuple(tuple(_memory(each, costs)) for each in spans),
    )


def _took(schedule: Schedule, rank: int, step: int, costs: Costs) -> tuple[float, float]:
    """Returns how long an action takes, and after how long its result is sent.

    Of a pair both results are sent at its end, and F is drawn before B.
    """
    order = schedule.orders[rank]
    first = step - 1 if schedule.begins_pair(rank, step - 1) else step
    if not schedule.begins_pair(rank, first):
        return costs.time(order[step]), costs.time(order[step])
    f, b = costs.time(order[first]), costs.time(order[first + 1])
    whole = f + b if costs.pair is None else costs.pair
    f_part = whole * f / (f + b)
    return (f_part, whole) if step == first else (whole - f_part, whole - f_part)


def _ready(
    schedule: Schedule, rank: int, step: int, ends: Mapping[Action, float], comm: float
) -> float | None:
    """Returns when all that a step needs is on its rank, None where it is not known yet."""
    latest = 0.0
    for need in needs_at(schedule, rank, step):
        if need not in ends:
            return None
        away = schedule.placement[need.stage] != rank
        latest = max(latest, ends[need] + comm * away)
    return latest


def _memory(spans: list[Span], costs: Costs) -> list[tuple[float, float]]:
    held, levels = 0.0, [(0.0, 0.0)]
    for span in spans:
        change = costs.memory(span.action)
        held += change
        levels.append((span.start if change > 0 else span.end, held))
    return levels

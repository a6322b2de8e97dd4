"""Recomputation in a pipeline's bubble: what GPipe's "M at least 4 K" assumes.

    bubble_share(ranks=8, microbatches=32)                          # nothing is computed again
    bubble_share(ranks=8, microbatches=32, recompute="waiting")     # once the gradient is there
    bubble_share(ranks=8, microbatches=32, recompute="early")       # while a rank waits for it
    hidden(ranks=8, microbatches=32)                                # how much of it a bubble takes

With checkpoints a rank keeps the input of its stage alone, and runs the stage once more before it
goes back. That run needs nothing of another rank, so a rank that waits for a gradient can do it.

Sources: Huang et al., GPipe (arXiv 1811.06965), section 2.3: the bubble is small where M >= 4 K,
"partly because re-computation during the backward pass can be scheduled earlier"; Kim et al.,
torchgpipe (arXiv 2004.09910): its mode "except_last" keeps the last microbatch whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gpu_course.errors import CourseError
from gpu_course.measure.pipelines import orders
from gpu_course.measure.pipelines.actions import BACKWARD, FORWARD, Action, Schedule
from gpu_course.measure.pipelines.rules import as_needed, faults, needs

RECOMPUTE = {
    "none": "everything is kept",
    "waiting": "a stage runs again once its gradient is there",
    "early": "a stage runs again as soon as its rank is free",
    "early but the last": "the same, and the last microbatch is kept whole",
}
"""When a stage runs once more."""
AGAIN = "R"
"""The kind of a step that runs a stage once more."""
Time = float | Callable[[int], float]
"""The same for every stage, or a function of the stage."""


@dataclass(frozen=True)
class Step:
    """One step as it ran; `kind` is F, R or B."""

    rank: int
    kind: str
    microbatch: int
    start: float
    end: float


@dataclass(frozen=True)
class Run:
    """A pipeline with recomputation, as it ran.

    Attributes:
        steps: for each rank its steps in order.
    """

    steps: tuple[tuple[Step, ...], ...]

    @property
    def time(self) -> float:
        """When the last step ends; the first begins at 0."""
        return max(order[-1].end for order in self.steps)

    @property
    def busy(self) -> tuple[float, ...]:
        """For each rank the time in which it is at work."""
        return tuple(sum(step.end - step.start for step in order) for order in self.steps)

    @property
    def bubble_share(self) -> float:
        """The share of the whole time in which a rank does nothing, on average."""
        return 1 - sum(self.busy) / (len(self.steps) * self.time)


def run(
    schedule: Schedule, recompute: str = "early", forward: Time = 1.0, backward: Time = 2.0
) -> Run:
    """Returns a schedule of F and B as it runs when stages run once more before each B.

    Args:
        schedule: one stage on each rank; `rules.faults` finds nothing in it.
        recompute: a name of RECOMPUTE.
        forward, backward: time of F and B; running a stage once more takes what F takes.

    Raises:
        CourseError: the schedule cannot run, or there is no such way to recompute.
    """
    if recompute not in RECOMPUTE:
        known = ", ".join(map(repr, RECOMPUTE))
        raise CourseError(f"recomputation is not {recompute!r}", f"there are {known}")
    if found := faults(schedule):
        raise CourseError(f"the schedule cannot run: {found[0].sentence}", "mend it first")
    ends: dict[Action, float] = {}
    at, free = [0] * schedule.ranks, [0.0] * schedule.ranks
    steps: list[list[Step]] = [[] for _ in range(schedule.ranks)]

    def add(rank: int, kind: str, each: int, start: float, time: float) -> None:
        free[rank] = start + time
        steps[rank].append(Step(rank, kind, each, start, free[rank]))

    moved = True
    while moved:
        moved = False
        for rank, order in enumerate(schedule.orders):
            while at[rank] < len(order):
                action = order[at[rank]]
                wanted = needs(action, schedule.stages)
                if any(need not in ends for need in wanted):
                    break
                ready = max((ends[need] for need in wanted), default=0.0)
                there = _of(forward, action.stage)
                if action.kind == BACKWARD and _runs_again(recompute, action, schedule):
                    begin = max(free[rank], ready) if recompute == "waiting" else free[rank]
                    add(rank, AGAIN, action.microbatch, begin, there)
                time = there if action.kind == FORWARD else _of(backward, action.stage)
                add(rank, action.kind, action.microbatch, max(free[rank], ready), time)
                ends[as_needed(action)] = free[rank]
                at[rank] += 1
                moved = True
    return Run(tuple(map(tuple, steps)))


def bubble_share(
    ranks: int,
    microbatches: int,
    recompute: str = "none",
    forward: Time = 1.0,
    backward: Time = 2.0,
) -> float:
    """Returns the share of GPipe's time in which its ranks wait.

    Running a stage once more counts as work, as GPipe counts it.

    Args:
        ranks, microbatches: of the pipeline.
        recompute: a name of RECOMPUTE.
        forward, backward: of a stage, or a function of the stage for stages that are not alike.

    >>> round(bubble_share(4, 16), 4)
    0.1579
    """
    return _gpipe(ranks, microbatches, recompute, forward, backward).bubble_share


def hidden(ranks: int, microbatches: int, forward: Time = 1.0, backward: Time = 2.0) -> float:
    """Returns the share of GPipe's recomputation that costs no time, since a rank waits anyway.

    Args:
        ranks, microbatches, forward, backward: as for `bubble_share`.
    """
    given = (ranks, microbatches)
    waiting = _gpipe(*given, "waiting", forward, backward).time
    early = _gpipe(*given, "early", forward, backward).time
    none = _gpipe(*given, "none", forward, backward).time
    return (waiting - early) / (waiting - none)


def _gpipe(ranks: int, microbatches: int, recompute: str, forward: Time, backward: Time) -> Run:
    """Follows GPipe's order, in which the last microbatch goes back first."""
    schedule = orders.gpipe(ranks, microbatches)
    turned = tuple(
        (*order[:microbatches], *reversed(order[microbatches:])) for order in schedule.orders
    )
    made = Schedule(schedule.placement, turned, microbatches, schedule.name)
    return run(made, recompute, forward, backward)


def _runs_again(recompute: str, action: Action, schedule: Schedule) -> bool:
    if recompute == "early but the last":
        return action.microbatch < schedule.microbatches - 1
    return recompute != "none"


def _of(time: Time, stage: int) -> float:
    return time(stage) if callable(time) else time

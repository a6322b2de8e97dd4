"""Looks for a pipeline schedule with few bubbles, under a limit of memory.

    found = search(ranks=8, microbatches=24, costs=costs, limit=16.0)
    found.schedule                       # of F, I and W
    found.run.bubble_rate, found.bound   # what it reaches, and what none can go below

All ranks are followed in time. One that is free takes I, F or W by a few rules, each with a number:
how much of its length F may keep a gradient waiting that is on its way, how much W may, which of I
and F goes first where both could, and how many microbatches a rank lets in. `search` draws those
numbers, afresh or near the best, and keeps the best. What it tries is a count, never a time, so the
same call finds the same schedule on every machine.

Source: the limit of memory, and the idea of filling gaps by W, are those of arXiv 2401.10241,
section 3.1; the rules are the course's own.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Iterable
from dataclasses import dataclass

from gpu_course.errors import CourseError
from gpu_course.measure.pipelines.actions import (
    FORWARD,
    INPUT,
    WEIGHT,
    Action,
    Schedule,
    straight,
)
from gpu_course.measure.pipelines.timing import Costs, Run, simulate

KINDS = (FORWARD, INPUT, WEIGHT)
_F, _I, _W = range(3)
"""Kinds as places in a list: a search asks for them a million times."""
_NEVER = math.inf
_SLACK = 1e-9
"""Times closer than this are one time."""


@dataclass(frozen=True)
class Policy:
    """How a free rank chooses.

    Attributes:
        forward_delays: the share of I's time for which an F may keep a gradient waiting.
        weight_delays: the share of W's time for which a W may keep anything waiting.
        first: "F", "I" or "turn": which goes first where both can; "turn" takes them in turn.
        let_in: for each rank the most microbatches between F and I; None for no such limit.
    """

    forward_delays: float = 0.5
    weight_delays: float = 1.0
    first: str = "turn"
    let_in: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Found:
    """The best schedule of a search.

    Attributes:
        schedule, run: what it is, and how it runs.
        policy: the numbers it was made by; None for one that was given to begin with.
        bound: a bubble rate below which no schedule of these costs and this limit can go.
    """

    schedule: Schedule
    run: Run
    policy: Policy | None
    bound: float


def search(
    ranks: int,
    microbatches: int,
    costs: Costs,
    limit: float,
    tries: int = 300,
    seed: int = 0,
    begin: Iterable[Schedule] = (),
) -> Found:
    """Returns the schedule with the lowest bubble rate among those tried.

    Args:
        ranks, microbatches: of the pipeline, one stage on each rank.
        costs: what an action takes and leaves.
        limit: the most memory of a rank, in the unit of `costs.activation`.
        tries: how many policies are drawn.
        seed: of the drawing.
        begin: schedules to beat; those that do not fit into the memory are left out.

    Raises:
        CourseError: not even one microbatch fits, or no policy came to an end.
    """
    largest = max(costs.memory(Action(each, FORWARD, 0)) for each in range(ranks))
    if limit < largest:
        raise CourseError(
            f"a rank may hold {limit:g}, and one microbatch takes {largest:g}",
            "give at least as much memory as one microbatch needs",
        )
    least = _least_cost(ranks, microbatches, costs, limit)
    rng = random.Random(seed)
    best: tuple[float, Policy | None, Schedule] | None = None
    for given in begin:
        run = simulate(given, costs)
        if max(run.peaks) <= limit + _SLACK and (best is None or run.cost < best[0]):
            best = run.cost, None, given
    for each in range(tries):
        if best is None or best[1] is None or each % 2:
            policy = Policy() if not each else _drawn(rng, ranks, limit)
        else:
            policy = _near(rng, best[1])
        below = math.inf if best is None else best[0]
        if (made := follow(ranks, microbatches, costs, limit, policy, below)) is None:
            continue
        schedule, cost = made
        best = cost, policy, schedule
        if cost <= least + _SLACK:
            break
    if best is None:
        raise CourseError(
            f"none of {tries} policies got through {microbatches} microbatches",
            "give a higher limit of memory, or more tries",
        )
    _, made_by, schedule = best
    run = simulate(schedule, costs)
    return Found(schedule, run, made_by, bound(ranks, microbatches, costs, limit))


def _drawn(rng: random.Random, ranks: int, limit: float) -> Policy:
    policy = Policy(
        1.2 * rng.random(), 1.2 * rng.random() ** 3, rng.choice(("I", "I", "F", "turn", "turn"))
    )
    if rng.random() < 0.5:
        return policy
    slope = rng.uniform(0.5, 1.3) * limit / ranks
    steps = (round(slope * (ranks - rank) + rng.uniform(-1, 1)) for rank in range(ranks))
    return Policy(
        policy.forward_delays,
        policy.weight_delays,
        policy.first,
        tuple(max(1, step) for step in steps),
    )


def _near(rng: random.Random, policy: Policy) -> Policy:
    """Returns a policy whose numbers are a little off those of another."""
    let_in = policy.let_in
    if let_in is not None:
        let_in = tuple(max(1, each + rng.choice((-1, 0, 0, 1))) for each in let_in)
    return Policy(
        max(0.0, policy.forward_delays + rng.gauss(0, 0.1)),
        max(0.0, policy.weight_delays + rng.gauss(0, 0.05)),
        policy.first,
        let_in,
    )


def bound(ranks: int, microbatches: int, costs: Costs, limit: float) -> float:
    """Returns a bubble rate that no schedule goes below: what the first rank cannot help.

    Its first gradient comes when microbatch 0 has been down and up; until then it can only let
    others in, as many as it has room for. Its last one comes when the last rank has taken all of
    them, with as many W as its memory does not let it put off, and when that one has come up.
    """
    work = max(
        microbatches * sum(costs.time(Action(each, kind, 0)) for kind in KINDS)
        for each in range(ranks)
    )
    return 1 - work / _least_cost(ranks, microbatches, costs, limit)


def _least_cost(ranks: int, microbatches: int, costs: Costs, limit: float) -> float:
    f, i, w = (
        [costs.time(Action(each, kind, 0)) for each in range(ranks)]
        for kind in (FORWARD, INPUT, WEIGHT)
    )
    work = [microbatches * (a + b + c) for a, b, c in zip(f, i, w, strict=True)]
    down = sum(f[:-1]) + (ranks - 1) * costs.comm
    up = sum(i[1:]) + (ranks - 1) * costs.comm
    room = min(microbatches, int(limit / costs.memory(Action(0, FORWARD, 0)) + _SLACK))
    waits = max(0.0, down + f[-1] + up - room * f[0])
    adds, kept = (
        costs.memory(Action(ranks - 1, FORWARD, 0)),
        -costs.memory(Action(ranks - 1, WEIGHT, 0)),
    )
    put_off = 1 + int((limit - adds) / kept + _SLACK) if kept else microbatches
    due = max(0, microbatches - put_off) * w[-1]
    through = down + microbatches * (f[-1] + i[-1]) + due + up - i[-1] + i[0] + w[0]
    return max(*work, work[0] + waits, through if ranks > 1 else 0.0)


def follow(
    ranks: int,
    microbatches: int,
    costs: Costs,
    limit: float,
    policy: Policy,
    below: float = math.inf,
) -> tuple[Schedule, float] | None:
    """Returns the schedule that a policy makes and its cost, None where the policy gets stuck.

    Args:
        ranks, microbatches, costs, limit: as for `search`.
        policy: how a rank chooses.
        below: give up, with None, as soon as the cost cannot stay below it.
    """
    pipeline = _Pipeline(ranks, microbatches, costs, limit, policy)
    if not pipeline.run(below):
        return None
    orders = tuple(
        tuple(Action(rank, KINDS[kind], number) for kind, number in order)
        for rank, order in enumerate(pipeline.orders)
    )
    return Schedule(straight(ranks), orders, microbatches, "searched"), pipeline.cost()


class _Pipeline:
    """All ranks as they are at one moment."""

    def __init__(
        self, ranks: int, microbatches: int, costs: Costs, limit: float, policy: Policy
    ) -> None:
        self.ranks, self.microbatches, self.policy = ranks, microbatches, policy
        self.limit, self.comm = limit + _SLACK, costs.comm
        actions = [[Action(each, kind, 0) for kind in KINDS] for each in range(ranks)]
        self.time = [[costs.time(action) for action in each] for each in actions]
        self.memory = [[costs.memory(action) for action in each] for each in actions]
        self.left = [microbatches * sum(each) for each in self.time]
        self.done = [[0, 0, 0] for _ in range(ranks)]
        self.held, self.free = [0.0] * ranks, [0.0] * ranks
        self.last = [_I] * ranks
        # When the next F and I of a rank can begin, microbatch by microbatch, and never after it.
        self.come = [[[_NEVER] * (microbatches + 1) for _ in range(ranks)] for _ in (_F, _I)]
        self.come[_F][0][:microbatches] = [0.0] * microbatches
        self.orders: list[list[tuple[int, int]]] = [[] for _ in range(ranks)]
        self.first = [_NEVER] * ranks

    def cost(self) -> float:
        """Returns the longest time from a rank's first start to its last end."""
        return max(end - start for end, start in zip(self.free, self.first, strict=True))

    def run(self, below: float) -> bool:
        """Follows all ranks; False where one gets stuck, or takes so long that it is of no use."""
        events = [(0.0, rank) for rank in range(self.ranks)]
        while events:
            now, rank = heapq.heappop(events)
            if now < self.free[rank] - _SLACK:
                continue  # it is at work, and comes again when it is free
            kind, again = self.choose(rank, now)
            if kind is None:
                if again < _NEVER:
                    heapq.heappush(events, (again, rank))
                continue
            for asked in self.do(rank, kind, now):
                heapq.heappush(events, asked)
            if self.free[rank] + self.left[rank] - self.first[rank] >= below:
                return False
        return all(done[_W] == self.microbatches for done in self.done)

    def choose(self, rank: int, now: float) -> tuple[int | None, float]:
        """Returns what a free rank does now; or None, and when to ask again, if that is known."""
        done, policy = self.done[rank], self.policy
        f_time, i_time, w_time = self.time[rank]
        gradient = self.come[_I][rank][done[_I]]
        forward = self.come[_F][rank][done[_F]]
        full = self.held[rank] + self.memory[rank][_F] > self.limit or (
            policy.let_in is not None and done[_F] - done[_I] >= policy.let_in[rank]
        )
        if full:
            forward = _NEVER
        soon = now + _SLACK
        if gradient <= soon:
            if forward > soon:
                return _I, _NEVER
            if policy.first == "turn":
                return (_F if self.last[rank] == _I else _I), _NEVER
            return KINDS.index(policy.first), _NEVER
        # A W may begin where it ends, but for a share of it, before anything else can.
        filled = now + w_time * (1 - policy.weight_delays)
        put_off = done[_I] > done[_W]
        if forward <= soon:
            if now + f_time <= gradient + policy.forward_delays * i_time:
                return _F, _NEVER
            return (_W, _NEVER) if put_off and filled <= gradient else (None, gradient)
        known = min(gradient, forward)
        return (_W, _NEVER) if put_off and filled <= known else (None, known)

    def do(self, rank: int, kind: int, now: float) -> list[tuple[float, int]]:
        """Takes a step of a rank, and returns who is to be asked when."""
        number = self.done[rank][kind]
        self.done[rank][kind] = number + 1
        self.held[rank] += self.memory[rank][kind]
        end = self.free[rank] = now + self.time[rank][kind]
        self.left[rank] -= self.time[rank][kind]
        self.first[rank] = min(self.first[rank], now)
        self.orders[rank].append((kind, number))
        asked = [(end, rank)]
        if kind == _W:
            return asked
        self.last[rank] = kind
        neighbour = rank + 1 if kind == _F else rank - 1
        if neighbour == self.ranks:
            self.come[_I][rank][number] = end
        elif neighbour >= 0:
            self.come[kind][neighbour][number] = end + self.comm
            asked.append((max(end + self.comm, self.free[neighbour]), neighbour))
        return asked

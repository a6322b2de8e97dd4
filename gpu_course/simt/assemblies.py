"""Which meetings of a launch in strands are due: who must come, who has come, who never will.

A meeting takes place when all that must be there are there. It also takes place, with some missing,
when everybody it could wait for has ended or stands at another meeting. A hazard then says so, and
the launch goes on as it does in lockstep: with the meeting that comes first in the kernel.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gpu_course.simt.meetings import Arrival, complete, hold
from gpu_course.simt.observer import Observer
from gpu_course.simt.relay import Runner

if TYPE_CHECKING:
    from gpu_course.simt.lanes import Lanes
    from gpu_course.simt.state import State


class Assemblies:
    """Keeps count of who is on the way to a meeting.

    Args:
        runners: all strands of the launch.
        lanes: all its lanes.
        observers, state: the launch's.
    """

    def __init__(
        self, runners: Iterable[Runner], lanes: Lanes, observers: Sequence[Observer], state: State
    ) -> None:
        self.lanes = lanes
        self.observers = observers
        self.state = state
        self.returned = np.zeros(lanes.count, bool)
        self.standing: dict[int, Runner] = {}
        self._live = 0
        self._live_in_block: Counter[int] = Counter()
        self._live_in_warp: dict[int, int] = defaultdict(int)
        for runner in runners:
            self._live += 1
            self._live_in_block[runner.strand.block] += 1
            self._live_in_warp[runner.window.first] |= runner.bits()

    def arrive(self, runner: Runner, arrival: Arrival) -> list[Runner]:
        """A strand has come to a meeting; returns those whose meeting has taken place by that."""
        runner.arrival = arrival
        self.standing[runner.strand.number] = runner
        self._note_returned(runner)
        return self._settle(runner)

    def end(self, runner: Runner) -> list[Runner]:
        """A strand has ended; returns those whose meeting has taken place by that."""
        self._live -= 1
        self._live_in_block[runner.strand.block] -= 1
        self._live_in_warp[runner.window.first] &= ~runner.bits()
        self._note_returned(runner)
        return self._settle(runner)

    def _note_returned(self, runner: Runner) -> None:
        assert runner.interpreter is not None
        self.returned[runner.window.span] |= runner.interpreter.returned

    def _settle(self, runner: Runner) -> list[Runner]:
        return (
            self._settle_warp(runner.window.first)
            or self._settle_block(runner.strand.block)
            or self._settle_grid()
        )

    def _settle_warp(self, first: int) -> list[Runner]:
        standing = [r for r in self.standing.values() if r.window.first == first]
        arrived = _at("warp", standing)
        live = self._live_in_warp[first]
        for group in arrived:
            ready = complete([r.arrival for r in group if r.arrival is not None], live)
            if ready:
                return self._hold([r for r in group if r.arrival in ready])
        if arrived and sum(r.bits() for r in standing) == live:
            return self._hold(arrived[0])
        return []

    def _settle_block(self, block: int) -> list[Runner]:
        standing = [r for r in self.standing.values() if r.strand.block == block]
        arrived = _at("block", standing)
        if arrived and len(standing) == self._live_in_block[block]:
            return self._hold(arrived[0])
        return []

    def _settle_grid(self) -> list[Runner]:
        arrived = _at("grid", list(self.standing.values()))
        if arrived and sum(map(len, arrived)) == self._live:
            return self._hold(arrived[0])
        return []

    def _hold(self, runners: list[Runner]) -> list[Runner]:
        """Lets strands meet that stand at one call; each gets its part and can go on."""
        arrivals = [r.arrival for r in runners if r.arrival is not None]
        results = hold(arrivals, self.lanes, self.observers, self.returned, self.state)
        for runner, result in zip(runners, results, strict=True):
            runner.result, runner.arrival = result, None
            del self.standing[runner.strand.number]
        return runners


def _at(scope: str, standing: list[Runner]) -> list[list[Runner]]:
    """The strands at each meeting of a scope, the call that comes first in the kernel first."""
    groups: dict[ast.Call, list[Runner]] = defaultdict(list)
    for runner in standing:
        if runner.arrival is not None and runner.arrival.scope == scope:
            groups[runner.arrival.call].append(runner)
    return sorted(groups.values(), key=lambda g: min(r.arrival.place for r in g if r.arrival))

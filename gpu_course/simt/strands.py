"""A launch in strands: all blocks resident, every warp or thread going its own way.

Each strand is an interpreter in a coroutine of its own, and exactly one of them runs at a time: it
hands on in waiting loops, at meetings and, where the schedule wants it, before each access.
Strands start when the schedule first picks them.

A strand *parks* when a turn of its loop has changed neither its variables nor any memory: until
somebody else changes memory, all its turns would be the same. When every strand is parked, or
stands at a meeting that a parked one keeps from taking place, the launch is dead-locked: an endless
loop. Strands that do go on, but change no memory, may spend a part of the step budget on it; those
that do change memory, a larger part, until one of them leaves its loop, ends or meets others.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from gpu_course.simt.assemblies import Assemblies
from gpu_course.simt.endless import MOST_WAITING_TURNS, Waits
from gpu_course.simt.faults import Fault
from gpu_course.simt.lanes import WARP, Lanes
from gpu_course.simt.meetings import Arrival
from gpu_course.simt.observer import Observer
from gpu_course.simt.relay import Ended, Relay, Runner, Wait
from gpu_course.simt.schedule import BARRIER, START, WAIT, About, Fineness, Kind, Schedule, Strand
from gpu_course.simt.state import State
from gpu_course.simt.strand import StrandInterpreter
from gpu_course.simt.variables import Value
from gpu_course.simt.vocabulary.allocate import Arena
from gpu_course.simt.window import Widened, Window

MOST_OFFERED: dict[Fineness, int] = {"waits": 128, "accesses": 512}
"""Strands not yet started that a schedule may choose from."""
MOST_LANES: dict[Kind, int] = {"warps": 1 << 16, "threads": 1 << 14}
STEPS_FACTOR = 8
"""All strands together may execute this many times the statements that one of them may."""
STEPS_OF_A_WAIT = 16
"""To hand on costs far more than a statement, and counts for more."""
READY_PER_STEP = 16
"""To pick one of so many strands counts for a statement more."""
STEPS_OF_A_PAUSE = 4
"""The same before an access, where the schedule switches there."""
FRUITLESS_PART = 10
"""One part in so many of the step budget may go into waiting before any memory changes."""
STUCK_PART = 2
"""The same before any strand comes on: those that count in memory while they wait change it."""


class Strands(Relay):
    """A launch whose strands take turns.

    Args:
        schedule: which strand goes on.
        lanes: all blocks of the grid.
        observers: the launch's.
        step_budget: statements one strand may execute.
        state: the launch's.
    """

    def __init__(
        self,
        schedule: Schedule,
        lanes: Lanes,
        observers: Sequence[Observer],
        step_budget: int,
        state: State,
    ) -> None:
        super().__init__()
        self.schedule = schedule
        self.lanes = lanes
        self.observers = observers
        self.step_budget = step_budget
        self.state = state
        self.arena = Arena(lanes, state.dynamic_bytes)
        self.asked: dict[ast.stmt, str] = {}  # of a loop: what its end depends on
        self.version = 0
        self.steps_left = STEPS_FACTOR * step_budget
        self._turns = self._fruitless = self._stuck = 0
        self._changed = False  # memory, since a strand came on
        self._met: set[tuple[int, tuple[int, ...]]] = set()  # the meetings since a strand came on
        self._new = self._cut()
        self._ready: dict[int, Runner] = {}
        self._parked: dict[int, Runner] = {}
        self._meetings = Assemblies(self._new.values(), lanes, observers, state)
        self._last: Strand | None = None

    def _cut(self) -> dict[int, Runner]:
        """The launch cut into strands, block after block."""
        alive, per_block = self.lanes.alive.active, self.lanes.lanes_per_block
        about = About(START, self.state.program.kernel.tree.lineno)
        found: dict[int, Runner] = {}
        for first in range(0, self.lanes.count, WARP):
            warp = alive[first : first + WARP]
            threads = self.schedule.strands == "threads"
            for part in np.eye(WARP, dtype=bool)[warp] if threads else [warp]:
                window = Window(self.lanes, first, part)
                strand = Strand(
                    number=len(found),
                    block=int(window.blocks[0]),
                    warp=first % per_block // WARP,
                    threads=self.lanes.global_thread[first : first + WARP][part],
                    about=about,
                )
                found[strand.number] = Runner(strand, window)
        return found

    # Running

    def execute(self, runner: Runner) -> None:
        """Runs a strand from its start to its end."""
        observers: list[Any] = [Widened(self.observers, runner.window)]
        state = self.state.of(runner.window, observers, 0)
        runner.interpreter = StrandInterpreter(self, runner.strand.number, runner.window, *state)
        self.resume(runner)
        runner.interpreter.run()
        self.suspend(runner)
        del self.under_way[runner.strand.number], self._ready[runner.strand.number]
        self._go_on(self._meetings.end(runner))
        self.progress()

    def resume(self, runner: Runner) -> None:
        """A strand has got the baton."""
        interpreter = runner.interpreter
        assert interpreter is not None
        runner.allowance = min(runner.steps_left, self.steps_left)
        interpreter.steps_left = runner.allowance
        self.state.faults.running = interpreter.program.kernel
        runner.wait = None

    def suspend(self, runner: Runner) -> None:
        """A strand hands the baton on, or ends."""
        spent = self._spent(runner)
        runner.steps_left -= spent
        self.steps_left -= spent

    def _spent(self, runner: Runner) -> int:
        assert runner.interpreter is not None
        return runner.allowance - runner.interpreter.steps_left

    def pick(self) -> Runner | None:
        """Returns the strand that goes on now; None when all have ended."""
        if not self.under_way and not self._new:
            return None
        most = MOST_OFFERED[self.schedule.fineness]
        runnable = [r.strand for r in chain(self._ready.values(), islice(self._new.values(), most))]
        if not runnable:
            self._deadlock()
        self.steps_left -= len(self._ready) // READY_PER_STEP
        strand = self._last = self.schedule.next(runnable, self._last)
        if strand.number in self._new:
            runner = self.under_way[strand.number] = self._new.pop(strand.number)
            runner.steps_left = self.step_budget
            self._ready[strand.number] = runner
        return self.under_way[strand.number]

    # What strands tell

    def memory_changed(self) -> None:
        """Some cell holds another value than before."""
        self.version += 1
        self._turns = self._fruitless = 0
        self._changed = True
        self._ready.update(self._parked)
        self._parked.clear()

    def progress(self) -> None:
        """Something has happened that brings the launch on."""
        self._come_on()
        self._met.clear()

    def _come_on(self) -> None:
        self._turns = self._fruitless = self._stuck = 0
        self._changed = False

    def pause(self, number: int, about: About) -> None:
        """A strand is about to touch memory."""
        runner = self.under_way[number]
        runner.strand.about = about
        self.steps_left -= STEPS_OF_A_PAUSE
        self.hand_on(runner)

    def wait(self, number: int, wait: Wait, *, idle: bool) -> None:
        """A strand begins another turn of a loop that asks memory; idle where it can only fail."""
        runner = self.under_way[number]
        runner.strand.about = About(WAIT, wait.node.lineno)
        runner.wait = wait
        # A strand that counts while it waits changes memory in each turn, and never stands still.
        self.steps_left -= STEPS_OF_A_WAIT
        self._turns += 1
        spent = self._spent(runner)
        self._fruitless += spent
        self._stuck += spent + STEPS_OF_A_WAIT
        if self._turns > MOST_WAITING_TURNS * len(self.under_way):
            self.give_up(wait)
        if self._stuck > self.step_budget // STUCK_PART:
            self.give_up(wait)
            self._end(proven=False, changing=self._changed)
        if self._fruitless > self.step_budget // FRUITLESS_PART:
            self._end(proven=False)
        if idle:
            self._parked[number] = self._ready.pop(number)
        self.hand_on(runner)

    def meet(self, number: int, arrival: Arrival) -> Value:
        """A strand has come to a meeting; what it gets there."""
        runner = self.under_way[number]
        runner.strand.about = About(BARRIER, arrival.call.lineno)
        self.steps_left -= STEPS_OF_A_WAIT
        del self._ready[number]
        met = self._meetings.arrive(runner, arrival)
        self._go_on(met)
        meeting = runner.strand.block, arrival.place
        if met and meeting not in self._met:
            self._come_on()
            self._met.add(meeting)
        self.hand_on(runner)
        return runner.result

    def _go_on(self, runners: Sequence[Runner]) -> None:
        self._ready.update((runner.strand.number, runner) for runner in runners)

    # Nobody can go on

    def give_up(self, wait: Wait) -> None:
        """Asks for single threads where the lanes of a warp hold each other up."""
        if wait.partial and self.schedule.strands == "warps":
            raise Waits(wait.kernel, wait.node)

    def _deadlock(self) -> None:
        """Says which loops wait, or asks for a finer cut."""
        for runner in self.under_way.values():
            if runner.wait is not None:
                self.give_up(runner.wait)
        self._end(proven=True)

    def _end(self, *, proven: bool, changing: bool = False) -> None:
        """Ends the launch with a fault for each loop that somebody waits in."""
        standing = self._meetings.standing.values()
        facts = {
            "hopeless": False,
            "names": {},
            "proven": proven,
            "changing": changing,
            "at_barriers": sum(r.strand.threads.size for r in standing),
            "barrier_lines": sorted({r.arrival.call.lineno for r in standing if r.arrival}),
        }
        by_loop: dict[ast.AST, list[tuple[Runner, Wait]]] = defaultdict(list)
        for runner in self.under_way.values():
            if runner.wait is not None:
                by_loop[runner.wait.node].append((runner, runner.wait))
        for waits in by_loop.values():
            self._report(waits, facts)
        raise Ended

    def _report(self, waits: list[tuple[Runner, Wait]], facts: dict[str, Any]) -> None:
        first = waits[0][1]
        loop = first.node
        threads = np.concatenate([r.window.global_thread[w.mask.lanes] for r, w in waits])
        test = ast.unparse(loop.test) if isinstance(loop, ast.While) else ""
        facts = {**facts, "test": test, "asks": first.asks, "found": first.found}
        fault = Fault("endless-loop", loop.lineno, threads, facts, kernel=first.kernel)
        self.state.faults.add(fault, (loop.col_offset,))

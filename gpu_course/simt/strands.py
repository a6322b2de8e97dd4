"""A launch in strands: all blocks resident, every warp or thread going its own way.

Each strand is an interpreter in a Python thread of its own, and exactly one of them runs at a time:
the baton goes from hand to hand at waiting loops, at meetings and, where the schedule wants it,
before each access. Strands start when the schedule first picks them.

A strand *parks* when a turn of its loop has changed neither its variables nor any memory: until
somebody else changes memory, all its turns would be the same. When every strand is parked, or stands
at a meeting that a parked one keeps from happening, the launch is dead-locked: an endless loop.
"""

from __future__ import annotations

import ast
import threading
from collections import Counter, defaultdict
from itertools import islice
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.simt.faults import Fault
from gpu_course.simt.interpreter import MOST_WAITING_TURNS, EndlessLoop, Waits
from gpu_course.simt.lanes import WARP, Lanes
from gpu_course.simt.meetings import Arrival, complete, hold
from gpu_course.simt.schedule import BARRIER, START, About, Schedule, Strand
from gpu_course.simt.strand import Stopped, StrandInterpreter, Wait, wait_about
from gpu_course.simt.vocabulary.allocate import Arena
from gpu_course.simt.vocabulary.functions import Value
from gpu_course.simt.window import Widened, Window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpu_course.simt.launch import Observer

MOST_AT_ONCE = 512
"""Strands under way at a time: each is a Python thread."""
MOST_LANES = {"warps": 1 << 16, "threads": 1 << 14}
STEPS_FACTOR = 8
"""All strands together may execute this many times the statements that one of them may."""
FRUITLESS_PART = 10
"""One part in so many of the step budget may go into waiting before any memory changes."""
STACK_BYTES = 1 << 20


MOST_OFFERED = 128
"""Strands not yet started that a schedule may choose from, where only waits make it switch."""


class TooManyStrands(Exception):
    """More strands wait for each other at one time than can be under way."""


class _Ended(BaseException):
    """The launch has come to a stop before its end, and the faults say why."""


class _Runner:
    """A strand under way: its interpreter, its thread's baton, and what it waits for."""

    def __init__(self, strand: Strand, window: Window) -> None:
        self.strand = strand
        self.window = window
        self.interpreter: StrandInterpreter | None = None
        self.baton: SimpleQueue[None] = SimpleQueue()
        self.wait: Wait | None = None
        self.version: int | None = None  # of the memory that it has found nothing new in
        self.arrival: Arrival | None = None
        self.result: Value = None
        self.steps_left = 0
        self.allowance = 0


class Strands:
    """A launch whose strands take turns.

    Args:
        schedule: which strand goes on.
        lanes: all blocks of the grid.
        observers: the launch's.
        step_budget: statements one strand may execute.
        state: the interpreter's arguments by name, but for lanes and observers.
    """

    def __init__(
        self,
        schedule: Schedule,
        lanes: Lanes,
        observers: Sequence[Observer],
        step_budget: int,
        state: dict[str, Any],
    ) -> None:
        self.schedule = schedule
        self.lanes = lanes
        self.observers = observers
        self.step_budget = step_budget
        self.state = state
        self.faults = state["faults"]
        self.policy = state["policy"]
        self.arena = Arena(lanes, state["dynamic_bytes"])
        self.returned = np.zeros(lanes.count, bool)
        self.asked: dict[ast.stmt, str] = {}
        self.version = 0
        self.stopping = False
        self.steps_left = STEPS_FACTOR * step_budget
        self._spins, self._spun = 0, 0
        self._failure: BaseException | None = None
        self._finished: SimpleQueue[None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._waiting_to_start = self._cut()
        self._live_in_warp: dict[int, int] = defaultdict(int)
        self._live_in_block: Counter[int] = Counter()
        for runner in self._waiting_to_start.values():
            self._live_in_block[runner.strand.block] += 1
            self._live_in_warp[runner.window.first] |= _bits(runner.window)
        self._under_way: dict[int, _Runner] = {}
        self._last: Strand | None = None

    def _cut(self) -> dict[int, _Runner]:
        """The launch cut into strands, block after block."""
        alive, per_block = self.lanes.alive.active, self.lanes.lanes_per_block
        found: dict[int, _Runner] = {}
        for first in range(0, self.lanes.count, WARP):
            warp = alive[first : first + WARP]
            parts = [warp]
            if self.schedule.strands == "threads":
                parts = list(np.eye(WARP, dtype=bool)[warp])
            for part in parts:
                window = Window(self.lanes, first, part)
                strand = Strand(
                    number=len(found),
                    block=int(window.blocks[0]),
                    warp=first % per_block // WARP,
                    threads=self.lanes.global_thread[first : first + WARP][part],
                    about=About(START, self.state["program"].kernel.tree.lineno),
                )
                found[strand.number] = _Runner(strand, window)
        return found

    # Running

    def run(self) -> None:
        """Runs all strands to their end.

        Raises:
            EndlessLoop: the step budget is spent, or a loop cannot end.
            Waits: lanes of one warp wait for each other, so the warps must be cut into threads.
            TooManyStrands: more strands wait at a time than can be under way.
        """
        try:
            first = self._pick()
            if first is not None:
                self._resume(first)
                self._finished.get()
        finally:
            self.stopping = True
            for runner in list(self._under_way.values()):
                if runner.interpreter is not None:
                    runner.interpreter.steps_left = 0
                runner.baton.put(None)
            for thread in self._threads:
                thread.join()
        if self._failure is not None:
            raise self._failure

    def _work(self, runner: _Runner) -> None:
        """What a Python thread does: one strand after the other, as long as new ones are due."""
        try:
            with np.errstate(all="ignore"):
                due: _Runner | None = runner
                while due is not None:
                    self._execute(due)
                    due = self._after_end(due)
        except Stopped:
            pass
        except _Ended:
            self._finished.put(None)
        except BaseException as failure:
            if not self.stopping:
                self._failure = failure
                self._finished.put(None)

    def _execute(self, runner: _Runner) -> None:
        if self.stopping:
            raise Stopped
        interpreter = StrandInterpreter(
            self,
            runner.strand.number,
            runner.window,
            *_positional(self.state, runner.window, [Widened(self.observers, runner.window)]),
        )
        runner.interpreter = interpreter
        self._enter(runner)
        interpreter.run()
        self._leave(runner)
        self._note_returned(runner)

    def _after_end(self, runner: _Runner) -> _Runner | None:
        """Passes the baton on from a strand that has ended; a new strand, to be run right here."""
        del self._under_way[runner.strand.number]
        self._live_in_block[runner.strand.block] -= 1
        self._live_in_warp[runner.window.first] &= ~_bits(runner.window)
        self.progress()
        self._settle(runner)
        following = self._pick()
        if following is None:
            self._finished.put(None)
            return None
        if following.interpreter is None:
            return following
        following.baton.put(None)
        return None

    def _hand_on(self, runner: _Runner) -> None:
        """Passes the baton on from a strand under way, and waits until it comes back."""
        if self.stopping:
            raise Stopped
        self._leave(runner)
        following = self._pick()
        if following is not runner:
            assert following is not None
            self._resume(following)
            runner.baton.get()
            if self.stopping:
                raise Stopped
        self._enter(runner)

    def _resume(self, runner: _Runner) -> None:
        if runner.interpreter is not None:
            runner.baton.put(None)
            return
        size = threading.stack_size(STACK_BYTES)
        try:
            thread = threading.Thread(target=self._work, args=(runner,), daemon=True)
            self._threads.append(thread)
            thread.start()
        finally:
            threading.stack_size(size)

    def _enter(self, runner: _Runner) -> None:
        interpreter = runner.interpreter
        assert interpreter is not None
        runner.allowance = min(runner.steps_left, self.steps_left)
        interpreter.steps_left = runner.allowance
        self.faults.running = interpreter.program.kernel
        runner.wait = runner.version = None

    def _leave(self, runner: _Runner) -> None:
        assert runner.interpreter is not None
        spent = runner.allowance - runner.interpreter.steps_left
        runner.steps_left -= spent
        self.steps_left -= spent

    # Who is next

    def _pick(self) -> _Runner | None:
        """The strand that goes on now; None when all have ended."""
        if not self._under_way and not self._waiting_to_start:
            return None
        ready = [r.strand for r in self._under_way.values() if self._can_go_on(r)]
        room = MOST_AT_ONCE - len(self._under_way)
        if self.schedule.fineness == "waits":
            room = min(room, MOST_OFFERED)
        new = [r.strand for r in islice(self._waiting_to_start.values(), room)]
        if not ready and not new:
            self._deadlock()
        strand = self.schedule.next([*ready, *new], self._last)
        self._last = strand
        number = strand.number
        if number in self._waiting_to_start:
            runner = self._under_way[number] = self._waiting_to_start.pop(number)
            runner.steps_left = self.step_budget
        return self._under_way[number]

    def _can_go_on(self, runner: _Runner) -> bool:
        return runner.arrival is None and runner.version != self.version

    def _deadlock(self) -> None:
        """Nobody can go on: says which loops wait, or asks for a finer cut."""
        if self._waiting_to_start:
            raise TooManyStrands(
                f"the simulator lets {MOST_AT_ONCE} {self.schedule.strands} wait for each other at "
                "a time, and here more have to",
                "launch fewer threads that wait",
            )
        for runner in self._under_way.values():
            if runner.wait is not None:
                self.give_up(runner.wait)
        self._end(proven=True)

    def _end(self, *, proven: bool) -> None:
        """Ends the launch with a fault for each loop that somebody waits in."""
        at_barriers = [r for r in self._under_way.values() if r.arrival is not None]
        facts = {
            "hopeless": False,
            "names": {},
            "proven": proven,
            "at_barriers": sum(r.strand.threads.size for r in at_barriers),
            "barrier_lines": sorted({r.arrival.call.lineno for r in at_barriers if r.arrival}),
        }
        by_loop: dict[ast.AST, list[tuple[_Runner, Wait]]] = defaultdict(list)
        for runner in self._under_way.values():
            if runner.wait is not None:
                by_loop[runner.wait.node].append((runner, runner.wait))
        for waits in by_loop.values():
            self._report(waits, facts)
        raise _Ended

    def _report(self, waits: list[tuple[_Runner, Wait]], facts: dict[str, Any]) -> None:
        (first, wait), loop = waits[0], waits[0][1].node
        assert first.interpreter is not None
        threads = np.concatenate([r.window.global_thread[w.mask.lanes] for r, w in waits])
        test = ast.unparse(loop.test) if isinstance(loop, ast.While) else ""
        facts = {**facts, "test": test, "asks": wait.asks, "found": wait.found}
        kernel = first.interpreter.program.kernel
        fault = Fault("endless-loop", loop.lineno, threads, facts, kernel=kernel)
        self.faults.add(fault, (loop.col_offset,))

    def give_up(self, wait: Wait) -> None:
        """Asks for single threads where the lanes of a warp hold each other up."""
        if wait.partial and self.schedule.strands == "warps":
            raise Waits(self.faults.running, wait.node)

    # What strands tell

    def memory_changed(self) -> None:
        """Some cell holds another value than before."""
        self.version += 1
        self.progress()

    def progress(self) -> None:
        """Something has happened that no loop that waits can undo."""
        self._spins = self._spun = 0

    def pause(self, number: int, about: About) -> None:
        """A strand is about to touch memory."""
        runner = self._under_way[number]
        runner.strand.about = about
        self._hand_on(runner)

    def wait(self, number: int, wait: Wait, *, idle: bool) -> None:
        """A strand begins another turn of a loop that asks memory; idle where it can only fail."""
        runner = self._under_way[number]
        runner.strand.about = wait_about(wait)
        assert runner.interpreter is not None
        self._spins += 1
        self._spun += runner.allowance - runner.interpreter.steps_left
        if self._spins > MOST_WAITING_TURNS * len(self._under_way):
            self.give_up(wait)
        runner.wait = wait
        if self._spun > self.step_budget // FRUITLESS_PART:
            self._end(proven=False)
        self._note_returned(runner)
        if idle:
            runner.version = self.version
        self._hand_on(runner)

    def meet(self, number: int, arrival: Arrival) -> Value:
        """A strand has come to a meeting; what it gets there."""
        runner = self._under_way[number]
        runner.arrival = arrival
        runner.strand.about = About(BARRIER, arrival.call.lineno)
        self._note_returned(runner)
        self._settle(runner)
        self._hand_on(runner)
        return runner.result

    def _note_returned(self, runner: _Runner) -> None:
        assert runner.interpreter is not None
        self.returned[runner.window.span] |= runner.interpreter.returned

    # Meetings

    def _settle(self, runner: _Runner) -> None:
        """Holds the meetings that the news of one strand makes due."""
        if self._settle_warp(runner.window.first) or self._settle_block(runner.strand.block):
            return
        self._settle_grid()

    def _arrived(self, scope: str, runners: list[_Runner]) -> list[_Runner]:
        return [r for r in runners if r.arrival is not None and r.arrival.scope == scope]

    def _settle_warp(self, first: int) -> bool:
        if self.schedule.strands == "warps":
            return False
        runners = [r for r in self._under_way.values() if r.window.first == first]
        arrived = self._arrived("warp", runners)
        live = self._live_in_warp[first]
        for group in _by_call(arrived):
            ready = complete([r.arrival for r in group if r.arrival is not None], live)
            if ready:
                self._hold([r for r in group if r.arrival in ready])
                return True
        held = sum(_bits(r.window) for r in runners if r.arrival is not None)
        if arrived and held == live:  # all have come somewhere, and nowhere have all
            self._hold(_by_call(arrived)[0])
            return True
        return False

    def _settle_block(self, block: int) -> bool:
        runners = [r for r in self._under_way.values() if r.strand.block == block]
        arrived = self._arrived("block", runners)
        standing = sum(r.arrival is not None for r in runners)
        if arrived and standing == self._live_in_block[block]:
            self._hold(_by_call(arrived)[0])
            return True
        return False

    def _settle_grid(self) -> None:
        runners = list(self._under_way.values())
        arrived = self._arrived("grid", runners)
        if arrived and len(arrived) == len(runners) and not self._waiting_to_start:
            self._hold(_by_call(arrived)[0])

    def _hold(self, runners: list[_Runner]) -> None:
        """Lets strands meet that stand at one call; each gets its part and can go on."""
        arrivals = [r.arrival for r in runners if r.arrival is not None]
        results = hold(arrivals, self.lanes, self.observers, self.returned, self)
        for runner, result in zip(runners, results, strict=True):
            runner.result, runner.arrival = result, None
        self.progress()


def _by_call(runners: list[_Runner]) -> list[list[_Runner]]:
    """The strands at each call, the call that comes first in the kernel first."""
    groups: dict[ast.Call, list[_Runner]] = defaultdict(list)
    for runner in runners:
        assert runner.arrival is not None
        groups[runner.arrival.call].append(runner)
    return sorted(groups.values(), key=lambda g: min(r.arrival.place for r in g if r.arrival))


def _bits(window: Window) -> int:
    return sum(1 << lane for lane in window.alive.lanes.tolist())


def _positional(
    state: dict[str, Any], window: Window, observers: Sequence[Any]
) -> tuple[Any, ...]:
    return (
        state["program"],
        state["inferred"],
        state["arguments"],
        window,
        observers,
        state["faults"],
        0,
        state["dynamic_bytes"],
        state["order_seed"],
        state["printout"],
        state["policy"],
    )

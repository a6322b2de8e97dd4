"""Warps or threads that take turns: all blocks resident, or as many as the schedule has room for.

Each task is an interpreter in a coroutine of its own, and exactly one of them runs at a time: it
hands on in waiting loops, at barriers and, where the schedule wants it, before each access. Tasks
start when the schedule first picks them.

A task *parks* when a turn of its loop has changed neither its variables nor any memory: until
somebody else changes memory, all its turns would be the same. When every task is parked, or stands
at a barrier that a parked one keeps from taking place, the launch is dead-locked: an endless loop.
Tasks that do go on, but change no memory, may spend a part of the step budget on it; those that do
change memory, a larger part, until one of them leaves its loop, ends or meets others.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from simt.errors import UserError
from simt.kernel.ir import Call, Loop, Statement
from simt.kernel.source import Kernel
from simt.machine import watchdog
from simt.machine.barriers import OF_BLOCK, OF_WARP, Arrival, Barriers
from simt.machine.faults import Fault
from simt.machine.interpreter import Interpreter
from simt.machine.lanes import WARP, Lanes, Mask
from simt.machine.machine import Turns
from simt.machine.memory import Array
from simt.machine.observer import Access, Observer, Setting
from simt.machine.schedule import BARRIER, START, WAIT, About, Fineness, Kind, Schedule, Task
from simt.machine.values import Value
from simt.machine.warp import WarpArena, WarpAudience, WarpLanes
from simt.machine.watchdog import ATOMIC, MAX_WAITING_TURNS, Waits
from simt.vocabulary.allocate import Arena
from simt.vocabulary.synchronise import GRID_BARRIER

if TYPE_CHECKING:
    from greenlet import greenlet

MAX_OFFERED: dict[Fineness, int] = {"waits": 128, "accesses": 512}
"""Tasks not yet started that a schedule may choose from."""
MAX_LANES: dict[Kind, int] = {"warps": 1 << 16, "threads": 1 << 14}
STEPS_FACTOR = 8
"""All tasks together may execute this many times the statements that one of them may."""
STEPS_OF_A_WAIT = 16
"""To hand on costs far more than a statement, and counts for more."""
READY_PER_STEP = 16
"""To pick one of so many tasks counts for a statement more."""
STEPS_OF_A_PAUSE = 4
"""The same before an access, where the schedule switches there."""
FRUITLESS_PART = 10
"""One part in so many of the step budget may go into waiting before any memory changes."""
STUCK_PART = 2
"""The same before any task comes on: those that count in memory while they wait change it."""

# A loop that is not idle hands on now and then only: most such loops wait for nobody.
TURNS_IN_A_ROW = 32


class Stopped(BaseException):
    """The launch has ended; the task unwinds."""


class Ended(BaseException):
    """The launch has come to a stop before its end, and the faults say why."""


@dataclass
class Wait:
    """A loop in which a task waits.

    Attributes:
        loop: the loop.
        mask: the task's lanes in it.
        partial: True when other lanes of the task are held up by these.
        asks: the cell it asks, as "flag[0]"; "" when it is not known.
        found: what it finds there.
        kernel: the kernel or device function that holds the loop.
        caller: where that is in another file, the kernel's own line that led there; else "".
    """

    loop: Loop
    mask: Mask
    partial: bool
    asks: str
    found: Any
    kernel: Kernel
    caller: str


@dataclass
class _Seen:
    """What a loop's lanes had before them when its turn began.

    Attributes:
        mask: the lanes in the loop.
        variables: what they hold.
        version: of the launch's memory.
        own: changes of memory the task itself had made.
    """

    mask: Mask
    variables: watchdog.Snapshot
    version: int
    own: int


class TaskContext:
    """A task under way: its interpreter, which asks here before it goes on, and its coroutine.

    Args:
        scheduler: the launch's.
        task: as the schedule sees it.
        window: its lanes.

    Attributes:
        coroutine: what it runs in; None until it starts.
        wait: the loop it waits in, or None.
        steps_left: statements it may still execute; `allowance` of them until it hands on.
    """

    def __init__(self, scheduler: Scheduler, task: Task, window: WarpLanes) -> None:
        self.scheduler = scheduler
        self.task = task
        self.window = window
        self.coroutine: greenlet | None = None
        self.wait: Wait | None = None
        self.steps_left = 0
        self.allowance = 0
        self.changes = 0
        self._last: tuple[Access, np.ndarray] | None = None

    def run(self) -> None:
        """Runs the task from its start to its end."""
        scheduler = self.scheduler
        audience = WarpAudience(scheduler.audience, self.window)
        arena = WarpArena(scheduler.arena, self.window)
        self.interpreter = Interpreter(
            scheduler.setting, self.window, audience, 0, arena=arena, context=self
        )
        self.resume()
        self.interpreter.run()
        self.suspend()
        scheduler.end(self)

    def resume(self) -> None:
        """Goes on."""
        self.allowance = min(self.steps_left, self.scheduler.steps_left)
        self.interpreter.steps_left = self.allowance
        self.wait = None

    def suspend(self) -> None:
        """Hands on, or ends."""
        spent = self.spent()
        self.steps_left -= spent
        self.scheduler.steps_left -= spent

    def spent(self) -> int:
        """Returns the statements it has executed since it went on."""
        return self.allowance - self.interpreter.steps_left

    def hand_on(self) -> None:
        """Lets others run until this task is picked again."""
        if self.scheduler.stopping:
            raise Stopped
        self.suspend()
        assert self.coroutine is not None and self.coroutine.parent is not None
        self.coroutine.parent.switch()
        self.resume()

    # Memory

    def before_access(
        self, kind: str, line: int, array: Array, find_cells: Callable[[], np.ndarray]
    ) -> None:
        """Hands on before an access, where the schedule says so."""
        if self.scheduler.schedule.fineness == "accesses":
            self.scheduler.pause(self, About(kind, line, array.name, find_cells))

    def accessed(self, access: Access) -> None:
        """Remembers what the last access found."""
        self._last = access, access.array.flat[access.elements]

    def before_write(self) -> None:
        """Forgets the last access."""
        self._last = None

    def wrote(self) -> None:
        """Notes whether the memory is another one now."""
        if self._last is not None:
            access, before = self._last
            if access.array.flat[access.elements].tobytes() != before.tobytes():
                self.changes += 1
                self.scheduler.memory_changed()

    # Loops

    def turned(self, loop: Loop, turns: Turns, running: Mask) -> None:
        """Hands on where the loop waits for others."""
        turns.fruitless += 1
        before: _Seen | None = turns.seen
        left = before is not None and before.mask.count != running.count
        if left:
            self.scheduler.progress()
        now = watchdog.snapshot(self.interpreter.variables)
        version = self.scheduler.version
        idle = (
            before is not None
            and not left
            and before.version == version
            and watchdog.unchanged(before.variables, now)
        )
        asks_again = loop.waits == ATOMIC and (before is None or before.own == self.changes)
        if idle or asks_again or turns.fruitless % TURNS_IN_A_ROW == 0:
            self.scheduler.wait(self, self._waits_in(loop, running), idle=idle)
            version = self.scheduler.version
        turns.seen = _Seen(running, now, version, self.changes)

    def _waits_in(self, loop: Loop, mask: Mask) -> Wait:
        going = self.window.alive.active & ~self.interpreter.returned
        partial_ = mask.count < int(np.count_nonzero(going))
        asks, found = "", None
        if self._last is not None:
            access, values = self._last
            cell = np.unravel_index(int(access.cells[0]), access.array.shape)
            asks = f"{access.array.name}[{', '.join(map(str, cell))}]"
            found = values[0].item()
        return Wait(
            loop, mask, partial_, asks, found, self.interpreter.kernel, self.interpreter.caller
        )

    def out_of_steps(self, node: Statement, mask: Mask) -> None:
        """Says which loop waits, where that is why the steps are spent."""
        if self.scheduler.stopping:
            raise Stopped
        if isinstance(node, Loop) and node.waits == ATOMIC:
            self.scheduler.give_up(self._waits_in(node, mask))
            raise watchdog.EndlessLoop(
                self.interpreter.kernel,
                node.line,
                self.window.global_thread[mask.lanes],
                {"hopeless": False, "test": "", "names": {}},
                self.interpreter.caller,
            )

    # Barriers

    def meets(self, call: Call) -> bool:
        """Returns whether a call waits for others."""
        return self._scope(call) != ""

    def _scope(self, call: Call) -> str:
        if call.path in OF_BLOCK:
            return "block"
        if call.path in OF_WARP and self.scheduler.schedule.tasks == "threads":
            return "warp"
        return "grid" if call.path == GRID_BARRIER else ""

    def meet(self, call: Call, arguments: list[Value]) -> Value:
        """Waits for the others; returns what the call gives."""
        machine = self.interpreter
        place = (*machine.frame.calls, call.line, call.column)
        arrival = Arrival(
            task=self.task,
            scope=self._scope(call),
            call=call,
            place=place,
            window=self.window,
            mask=machine.mask,
            arguments=arguments,
            kernel=machine.kernel,
            caller=machine.caller,
            returned=machine.returned,
        )
        return self.scheduler.meet(self, arrival)


class Scheduler:
    """Runs the warps or the threads of a launch in turn.

    Args:
        schedule: which task goes on.
        lanes: all blocks of the grid.
        audience: of the launch.
        step_budget: statements one task may execute.
        setting: the launch.

    Attributes:
        stopping: True once the launch has ended, however it did.
        under_way: the tasks that have started and not ended, by number.
        version: counts the changes of memory.
    """

    def __init__(
        self,
        schedule: Schedule,
        lanes: Lanes,
        audience: Observer,
        step_budget: int,
        setting: Setting,
    ) -> None:
        self.stopping = False
        self.under_way: dict[int, TaskContext] = {}
        self.schedule = schedule
        self.lanes = lanes
        self.audience = audience
        self.step_budget = step_budget
        self.setting = setting
        self.arena = Arena(lanes, setting.dynamic_bytes)
        self.version = 0
        self.steps_left = STEPS_FACTOR * step_budget
        self._turns = self._fruitless = self._stuck = 0
        self._changed = False  # memory, since a task came on
        self._met: set[tuple[int, tuple[int, ...]]] = set()  # the barriers since a task came on
        self._new = self._cut()
        self._ready: dict[int, TaskContext] = {}
        self._parked: dict[int, TaskContext] = {}
        tasks = [(context.task, context.window) for context in self._new.values()]
        self._barriers = Barriers(tasks, lanes, audience, setting)
        # A launch with a barrier of the grid has all blocks there, or does not start.
        self._room = 0 if GRID_BARRIER in setting.code.names else schedule.resident
        self._left: Counter[int] = Counter(task.block for task, _ in tasks)
        self._resident: set[int] = set()
        # Of those that have not started the ones to choose from; None when it is to be asked anew.
        self._offered: list[Task] | None = None
        self._most_offered = MAX_OFFERED[schedule.fineness]
        self._last: Task | None = None

    def _cut(self) -> dict[int, TaskContext]:
        """The launch cut into tasks, block after block."""
        alive, per_block = self.lanes.alive.active, self.lanes.lanes_per_block
        about = About(START, self.setting.code.kernel.tree.lineno)
        found: dict[int, TaskContext] = {}
        for first in range(0, self.lanes.count, WARP):
            warp = alive[first : first + WARP]
            threads = self.schedule.tasks == "threads"
            for part in np.eye(WARP, dtype=bool)[warp] if threads else [warp]:
                window = WarpLanes(self.lanes, first, part)
                task = Task(
                    number=len(found),
                    block=int(window.blocks[0]),
                    warp=first % per_block // WARP,
                    threads=self.lanes.global_thread[first : first + WARP][part],
                    about=about,
                )
                found[task.number] = TaskContext(self, task, window)
        return found

    # Running

    def run(self) -> None:
        """Runs all tasks to their end; raises what one of them raised.

        Raises:
            UserError: greenlet is not installed.
        """
        try:
            # Here, so that kernels whose threads never wait run without it.
            from greenlet import greenlet
        except ModuleNotFoundError as error:
            raise UserError(
                "threads of this kernel wait for each other: to run them in turn takes the "
                "package greenlet, which is not installed",
                "python -m pip install greenlet",
            ) from error
        try:
            while (context := self.pick()) is not None:
                if context.coroutine is None:
                    context.coroutine = greenlet(context.run)
                    # NumPy's errstate belongs to a context, and each greenlet has its own.
                    context.coroutine.gr_context = copy_context()
                context.coroutine.switch()
        except Ended:
            self.setting.faults.finished = False
        finally:
            self.stopping = True
            for context in list(self.under_way.values()):
                if context.coroutine is not None:
                    with suppress(Stopped):
                        context.coroutine.throw(Stopped)

    def pick(self) -> TaskContext | None:
        """Returns the task that goes on now; None when all have ended."""
        if not self.under_way and not self._new:
            return None
        if self._offered is None:
            self._offered = self._offers()
        runnable = [context.task for context in self._ready.values()] + self._offered
        if not runnable:
            self._deadlock()
        self.steps_left -= len(self._ready) // READY_PER_STEP
        task = self._last = self.schedule.next(runnable, self._last)
        if task.number in self._new:
            context = self.under_way[task.number] = self._new.pop(task.number)
            self._resident.add(task.block)
            self._offered = None
            context.steps_left = self.step_budget
            self._ready[task.number] = context
        return self.under_way[task.number]

    def _offers(self) -> list[Task]:
        """Returns those that have not started and may; of each block one, where there is no room.

        Who waits for ever then hangs on which block comes first, and any of them may.
        """
        new = map(attrgetter("task"), filter(self._has_room, self._new.values()))
        found = list(islice(new, self._most_offered))
        if len(self._resident) < self._room:
            blocks = {task.block for task in found}
            for task in new:
                if task.block not in blocks:
                    blocks.add(task.block)
                    found.append(task)
        return found

    def _has_room(self, context: TaskContext) -> bool:
        """True where a task's block is there, or may come."""
        return (
            not self._room
            or context.task.block in self._resident
            or len(self._resident) < self._room
        )

    # What tasks tell

    def end(self, context: TaskContext) -> None:
        """A task has come to its end."""
        number = context.task.number
        del self.under_way[number], self._ready[number]
        self._left[context.task.block] -= 1
        if not self._left[context.task.block]:
            self._resident.discard(context.task.block)
            self._offered = None
        returned = context.interpreter.returned
        self._go_on(self._barriers.end(context.task, context.window, returned))
        self.progress()

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

    def pause(self, context: TaskContext, about: About) -> None:
        """A task is about to touch memory."""
        context.task.about = about
        self.steps_left -= STEPS_OF_A_PAUSE
        context.hand_on()

    def wait(self, context: TaskContext, wait: Wait, *, idle: bool) -> None:
        """A task begins another turn of a loop that asks memory; idle where it can only fail."""
        context.task.about = About(WAIT, wait.loop.line)
        context.wait = wait
        # A task that counts while it waits changes memory in each turn, and never stands still.
        self.steps_left -= STEPS_OF_A_WAIT
        self._turns += 1
        spent = context.spent()
        self._fruitless += spent
        self._stuck += spent + STEPS_OF_A_WAIT
        if self._turns > MAX_WAITING_TURNS * len(self.under_way):
            self.give_up(wait)
        if self._stuck > self.step_budget // STUCK_PART:
            self.give_up(wait)
            self._end(proven=False, changing=self._changed)
        if self._fruitless > self.step_budget // FRUITLESS_PART:
            self._end(proven=False)
        if idle:
            number = context.task.number
            self._parked[number] = self._ready.pop(number)
        context.hand_on()

    def meet(self, context: TaskContext, arrival: Arrival) -> Value:
        """A task has come to a barrier; what it gets there."""
        context.task.about = About(BARRIER, arrival.call.line)
        self.steps_left -= STEPS_OF_A_WAIT
        del self._ready[context.task.number]
        met = self._barriers.arrive(arrival)
        self._go_on(met)
        barrier = context.task.block, arrival.place
        if met and barrier not in self._met:
            self._come_on()
            self._met.add(barrier)
        context.hand_on()
        return arrival.result

    def _go_on(self, arrivals: Sequence[Arrival]) -> None:
        numbers = [arrival.task.number for arrival in arrivals]
        self._ready.update((number, self.under_way[number]) for number in numbers)

    # Nobody can go on

    def give_up(self, wait: Wait) -> None:
        """Asks for single threads where the lanes of a warp hold each other up."""
        if wait.partial and self.schedule.tasks == "warps":
            raise Waits(wait.kernel, wait.loop.line)

    def _deadlock(self) -> None:
        """Says which loops wait, or asks for a finer cut."""
        for context in self.under_way.values():
            if context.wait is not None:
                self.give_up(context.wait)
        self._end(proven=True)

    def _end(self, *, proven: bool, changing: bool = False) -> None:
        """Ends the launch with a fault for each loop that somebody waits in."""
        standing = self._barriers.standing.values()
        facts = {
            "hopeless": False,
            "names": {},
            "proven": proven,
            "changing": changing,
            "room": self._room,
            "outside": len({c.task.block for c in self._new.values()} - self._resident),
            "at_barriers": sum(a.task.threads.size for a in standing),
            "barrier_lines": sorted({a.call.line for a in standing}),
        }
        by_loop: dict[tuple[str, int, int], list[tuple[TaskContext, Wait]]] = defaultdict(list)
        for context in self.under_way.values():
            if context.wait is not None:
                wait = context.wait
                place = wait.kernel.file, wait.loop.line, wait.loop.column
                by_loop[place].append((context, wait))
        for waits in by_loop.values():
            self._report(waits, facts)
        raise Ended

    def _report(self, waits: list[tuple[TaskContext, Wait]], facts: dict[str, Any]) -> None:
        first = waits[0][1]
        loop = first.loop
        threads = np.concatenate([c.window.global_thread[w.mask.lanes] for c, w in waits])
        test = "" if loop.written is None else ast.unparse(loop.written)
        facts = {**facts, "test": test, "asks": first.asks, "found": first.found}
        fault = Fault(
            "endless-loop", loop.line, threads, facts, kernel=first.kernel, caller=first.caller
        )
        self.setting.faults.add(fault, (loop.column,))

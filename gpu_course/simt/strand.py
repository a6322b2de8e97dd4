"""One strand of a launch: an interpreter over one warp or one thread, which hands on to others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gpu_course.simt import watchdog
from gpu_course.simt.interpreter import Interpreter
from gpu_course.simt.ir import Call, Loop, Statement
from gpu_course.simt.lanes import Mask
from gpu_course.simt.machine import Turns
from gpu_course.simt.meetings import BLOCK_MEETINGS, GRID_MEETING, WARP_MEETINGS, Arrival
from gpu_course.simt.memory import Array
from gpu_course.simt.observer import Access, Observer, Setting
from gpu_course.simt.relay import Stopped, Wait
from gpu_course.simt.schedule import About, Schedule
from gpu_course.simt.values import Value
from gpu_course.simt.vocabulary.allocate import Arena
from gpu_course.simt.watchdog import ATOMIC
from gpu_course.simt.window import Window, WindowArena

# A loop that is not idle hands on now and then only: most such loops wait for nobody.
TURNS_IN_A_ROW = 32


@dataclass
class Seen:
    """What a loop's lanes had before them when its turn began.

    Attributes:
        mask: the lanes in the loop.
        variables: what they hold.
        version: of the launch's memory.
        own: changes of memory the strand itself had made.
    """

    mask: Mask
    variables: watchdog.Snapshot
    version: int
    own: int


class Group(Protocol):
    """What a strand asks of, and tells, the launch it belongs to; `strands.Strands` is one."""

    schedule: Schedule
    arena: Arena
    version: int
    stopping: bool

    def memory_changed(self) -> None:
        """Some cell holds another value than before."""

    def progress(self) -> None:
        """Something has happened that brings the launch on."""

    def pause(self, number: int, about: About) -> None:
        """A strand is about to touch memory."""

    def wait(self, number: int, wait: Wait, *, idle: bool) -> None:
        """A strand has made a turn of a loop that waits."""

    def give_up(self, wait: Wait) -> None:
        """A strand's loop cannot end in lockstep."""

    def meet(self, number: int, arrival: Arrival) -> Value:
        """Returns what a meeting gives a strand, once it has taken place."""


class StrandContext:
    """What the interpreter of one strand asks before it goes on.

    Args:
        group: the launch.
        number: the strand's.
        window: its lanes.
        setting: the launch's.
        observers: told of what the strand does, in the numbers of its window.
    """

    def __init__(
        self,
        group: Group,
        number: int,
        window: Window,
        setting: Setting,
        observers: list[Observer],
    ) -> None:
        self.group = group
        self.number = number
        self.window = window
        arena = WindowArena(group.arena, window)
        self.interpreter = Interpreter(setting, window, observers, 0, arena=arena, context=self)
        self.changes = 0
        self._last: tuple[Access, np.ndarray] | None = None

    # Memory

    def before_access(
        self, kind: str, line: int, array: Array, find_cells: Callable[[], np.ndarray]
    ) -> None:
        """Hands on before an access, where the schedule says so."""
        if self.group.schedule.fineness == "accesses":
            self.group.pause(self.number, About(kind, line, array.name, find_cells))

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
                self.group.memory_changed()

    # Loops

    def turned(self, loop: Loop, turns: Turns, running: Mask) -> None:
        """Hands on where the loop waits for others."""
        turns.fruitless += 1
        before: Seen | None = turns.seen
        left = before is not None and before.mask.count != running.count
        if left:
            self.group.progress()
        now = watchdog.snapshot(self.interpreter.variables)
        version = self.group.version
        idle = (
            before is not None
            and not left
            and before.version == version
            and watchdog.unchanged(before.variables, now)
        )
        asks_again = loop.waits == ATOMIC and (before is None or before.own == self.changes)
        if idle or asks_again or turns.fruitless % TURNS_IN_A_ROW == 0:
            self.group.wait(self.number, self._wait(loop, running), idle=idle)
            version = self.group.version
        turns.seen = Seen(running, now, version, self.changes)

    def _wait(self, loop: Loop, mask: Mask) -> Wait:
        going = self.window.alive.active & ~self.interpreter.returned
        partial_ = mask.count < int(np.count_nonzero(going))
        asks, found = "", None
        if self._last is not None:
            access, values = self._last
            cell = np.unravel_index(int(access.cells[0]), access.array.shape)
            asks = f"{access.array.name}[{', '.join(map(str, cell))}]"
            found = values[0].item()
        return Wait(loop, mask, partial_, asks, found, self.interpreter.kernel)

    def out_of_steps(self, node: Statement, mask: Mask) -> None:
        """Says which loop waits, where that is why the steps are spent."""
        if self.group.stopping:
            raise Stopped
        if isinstance(node, Loop) and node.waits == ATOMIC:
            self.group.give_up(self._wait(node, mask))
            raise watchdog.EndlessLoop(
                self.interpreter.kernel,
                node.line,
                self.window.global_thread[mask.lanes],
                {"hopeless": False, "test": "", "names": {}},
            )

    # Meetings

    def meets(self, call: Call) -> bool:
        """Returns whether a call waits for others."""
        return self._scope(call) != ""

    def _scope(self, call: Call) -> str:
        if call.path in BLOCK_MEETINGS:
            return "block"
        if call.path in WARP_MEETINGS and self.group.schedule.strands == "threads":
            return "warp"
        return "grid" if call.path == GRID_MEETING else ""

    def meet(self, call: Call, arguments: list[Value]) -> Value:
        """Waits for the others; returns what the call gives."""
        machine = self.interpreter
        place = (*machine.frame.calls, call.line, call.column)
        arrival = Arrival(
            self._scope(call), call, place, self.window, machine.mask, arguments, machine.kernel
        )
        return self.group.meet(self.number, arrival)

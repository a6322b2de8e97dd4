"""What a random kernel does and which of its cells race, from the program that was drawn.

A generator runs each thread; nothing of the simulator is used. Only who goes next is given, a
thread for each access, since atomics may find another value in another order. What happened before
what is worked out the long way: for each thread, a clock of all threads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterable, Sequence
from functools import cache
from types import CodeType
from typing import Any

import numpy as np

from tests.observe.random_kernels import FLAGS, GLOBAL, Drawn, Fence, If, Meet, Statement, Touch

Cell = tuple[str, int, int]
"""An array's name, the block whose memory it is (-1: everybody's), and the place in it."""

Event = tuple[Any, ...]
"""("load", "store" or "atomic", cell); ("fence", within_block); or (a barrier, who met)."""


class Disagreement(Exception):
    """A thread is said to go on that cannot."""


class Clocks:
    """Which accesses happened before which; finds those that race.

    Attributes:
        racing: the cells with a race.
        loose: the cells where a fence is missing after an atomic that told of the other access.
    """

    def __init__(self, threads: int, per_block: int) -> None:
        self.per_block = per_block
        # What each thread knows of each: for certain; after any fence; after a fence of the device.
        self.firm, self.near, self.far = (np.zeros((threads, threads), int) for _ in range(3))
        # What each knew at its last fence of any kind, and at its last one of the device.
        self.fenced: dict[int, np.ndarray] = {}
        self.wide_fenced: dict[int, np.ndarray] = {}
        # Of each cell: its releases, in turn; and when each thread last touched it, by kind.
        self.released: dict[Cell, list[tuple[int, Any, Any]]] = defaultdict(list)
        self.touched: dict[Cell, dict[str, np.ndarray]] = defaultdict(dict)
        self.racing: set[Cell] = set()
        self.loose: set[Cell] = set()

    def meet(self, threads: Sequence[int]) -> None:
        """All that one of them knows, all of them know."""
        for clocks in (self.firm, self.near, self.far):
            clocks[threads] = clocks[threads].max(axis=0)

    def fence(self, t: int, within_block: bool) -> None:
        """What a thread has learned from atomics counts, and its next atomic tells of it."""
        self.firm[t] = np.maximum(self.firm[t], self.near[t])
        if not within_block:
            self.firm[t] = np.maximum(self.firm[t], self.far[t])
            self.wide_fenced[t] = self.firm[t].copy()
        self.fenced[t] = self.firm[t].copy()

    def touch(self, t: int, kind: str, cell: Cell) -> None:
        """Compares an access with each thread's last one of each kind that conflicts."""
        self.firm[t, t] += 1
        seen = self.touched[cell]
        for other, last in seen.items():
            if kind != other or kind == "store":
                open_ = last > self.firm[t]
                if (open_ & (last > np.maximum(self.near[t], self.far[t]))).any():
                    self.racing.add(cell)
                elif open_.any():
                    self.loose.add(cell)
        seen.setdefault(kind, np.zeros(len(self.firm), int))[t] = self.firm[t, t]

    def synchronise(self, t: int, cell: Cell, wrote: bool) -> None:
        """An atomic learns what those before it told, and tells what its thread knew by a fence."""
        block = t // self.per_block
        for other, fenced, wide_fenced in self.released[cell]:
            if other == block and fenced is not None:
                self.near[t] = np.maximum(self.near[t], fenced)
            if wide_fenced is not None:
                self.far[t] = np.maximum(self.far[t], wide_fenced)
        if wrote:
            self.released[cell].append((block, self.fenced.get(t), self.wide_fenced.get(t)))


class Witness:
    """Runs a drawn kernel.

    Args:
        drawn: the kernel.
        order: which thread does each access, one after the other.

    Attributes:
        events: what each thread did, in its order.
        memory: cell -> value, of those that have been set.
        clocks: what raced.

    Raises:
        Disagreement: when the order lets a thread go on that waits or has ended, or ends too early.
    """

    def __init__(self, drawn: Drawn, order: Iterable[int]) -> None:
        self.drawn = drawn
        count = drawn.grid * drawn.block
        self.events: list[list[Event]] = [[] for _ in range(count)]
        self.memory: dict[Cell, int] = {}
        self.memory |= {("g", -1, k): 0 for k in range(GLOBAL)}
        self.memory |= {("f", -1, k): 0 for k in range(FLAGS)}
        self.clocks = Clocks(count, drawn.block)
        self.names: list[dict[str, int]] = [{} for _ in range(count)]
        self.threads = [self._thread(t) for t in range(count)]
        self.about: list[Any] = [None] * count
        self.waiting: dict[Event, set[int]] = defaultdict(set)
        for t in range(count):
            self._go_on(t, None)
        for t in order:
            if not isinstance(self.about[t], Touch):
                raise Disagreement(f"thread {t} is to go on, and is at {self.about[t]}")
            self._go_on(t, self._access(t, self.about[t]))
        stuck = [t for t in range(count) if self.about[t] is not None]
        if stuck:
            raise Disagreement(f"threads {stuck} have not ended")

    def _thread(self, t: int) -> Generator[tuple[Any, dict[str, int]], int | None, None]:
        """Runs a thread; yields what it does next, and receives what an access finds."""
        block, inside = divmod(t, self.drawn.block)
        names = {"t": inside, "b": block, "i": t, "lane": inside % 32, "x": 0}
        names |= dict.fromkeys(self.drawn.variables, 0)

        def run(body: Sequence[Statement]) -> Generator[Any, int | None, None]:
            for each in body:
                if isinstance(each, If):
                    if value(each.condition, names):
                        yield from run(each.body)
                else:
                    found = yield each, names
                    if isinstance(each, Touch) and each.into:
                        names[each.into] += found or 0

        return run(self.drawn.program)

    def _go_on(self, t: int, found: int | None) -> None:
        """Runs a thread up to its next access, or to a barrier where others are missing."""
        step = self.threads[t]
        try:
            statement, names = next(step) if found is None else step.send(found)
        except StopIteration:
            self.about[t] = None
            return
        self.about[t] = statement
        self.names[t] = names
        if isinstance(statement, Fence):
            self.events[t].append(("fence", statement.within_block))
            self.clocks.fence(t, statement.within_block)
            self._go_on(t, None)
        elif isinstance(statement, Meet):
            self._meet(t, statement, names)

    def _meet(self, t: int, meet: Meet, names: dict[str, int]) -> None:
        """Waits at a barrier; the last to come lets all go on."""
        block, size = t // self.drawn.block, self.drawn.block
        members: Sequence[int] = range(block * size, (block + 1) * size)
        if meet.size == "grid":
            members = range(len(self.threads))
        elif meet.size != "block":
            mask = value(meet.mask or "0xFFFFFFFF", names)
            warp = members[t % size // 32 * 32 :][:32]
            members = [other for lane, other in enumerate(warp) if mask >> lane & 1]
        kind = {"part": "warp"}.get(meet.size, meet.size)
        event = (kind, frozenset(members))
        here = self.waiting[event]
        here.add(t)
        if len(here) == len(members):
            del self.waiting[event]
            self.clocks.meet(sorted(members))
            for other in members:
                self.events[other].append(event)
            for other in members:
                self._go_on(other, None)

    def _access(self, t: int, touch: Touch) -> int:
        """Does a thread's access, and returns what it finds."""
        names = self.names[t]
        block = t // self.drawn.block if touch.array == "s" else -1
        cell = touch.array, block, value(touch.index, names)
        kind = touch.kind if touch.kind in ("load", "store") else "atomic"
        self.events[t].append((kind, cell))
        self.clocks.touch(t, kind, cell)
        found = self.memory.get(cell, 0)
        new = _updated(touch.kind, found, [value(each, names) for each in touch.operands])
        if new is not None:
            self.memory[cell] = new
        if kind == "atomic":
            self.clocks.synchronise(t, cell, new is not None)
        return found


def value(expression: str, names: dict[str, int]) -> int:
    """Returns the value of an expression of the kernel's language, which is Python's."""
    return int(eval(_compiled(expression), {}, names))


@cache
def _compiled(expression: str) -> CodeType:
    return compile(expression, "kernel", "eval")


def _updated(kind: str, found: int, operands: Sequence[int]) -> int | None:
    """Returns what an access leaves in its cell, or None when it writes nothing."""
    match kind, *operands:
        case "load", *_:
            return None
        case "add", number:
            return found + number
        case "max", number:
            return max(found, number)
        case "cas", expected, number:
            return number if found == expected else None
        case _, number:
            return number

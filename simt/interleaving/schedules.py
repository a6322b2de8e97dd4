"""Schedules that bring a race to light: one side ahead, held back, or seen late."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simt.machine.lanes import WARP, Lanes, Mask
from simt.machine.observer import Access, Observer, Setting
from simt.machine.schedule import WAIT, About, Kind, Schedule, Task


@dataclass(frozen=True)
class Point:
    """An access that a warp or thread comes to: the line, the kind, the array's cell.

    Attributes:
        thread: the global linear number of its thread.
        line: its line.
        kind: "load", "store" or "atomic".
        array, cell: what it touches.
    """

    thread: int
    line: int
    kind: str
    array: str
    cell: int

    def here(self, about: About) -> bool:
        """True when that is what a warp or thread does next."""
        return (
            about.line == self.line
            and about.kind == self.kind
            and about.array == self.array
            and bool((about.cells == self.cell).any())
        )


@dataclass(frozen=True)
class Race:
    """Two accesses that nothing orders; where one of them reads, it is the first.

    Attributes:
        one, other: the accesses.
        space: "global" or "shared".
        per_block: threads of a block.
    """

    one: Point
    other: Point
    space: str
    per_block: int

    @property
    def same_block(self) -> bool:
        """True when both threads belong to one block."""
        return self.one.thread // self.per_block == self.other.thread // self.per_block

    @property
    def same_warp(self) -> bool:
        """True when both threads belong to one warp."""
        return self.same_block and (
            self.one.thread % self.per_block // WARP == self.other.thread % self.per_block // WARP
        )

    def number(self, thread: int, kind: Kind) -> int:
        """Returns the number of a thread's warp, or its own where single threads are ordered."""
        if kind == "threads":
            return thread
        block, inside = divmod(thread, self.per_block)
        return block * -(-self.per_block // WARP) + inside // WARP


class Ahead(Schedule):
    """Some warps or threads go before all others, each as far as it comes; then one by one.

    Args:
        first: their numbers, the foremost first.
        kind: whether warps or single threads are ordered.
    """

    def __init__(self, first: Sequence[int], kind: Kind) -> None:
        super().__init__(kind, "accesses")
        self.first = tuple(first)

    def choose(self, runnable: Sequence[Task], last: Task | None) -> Task:
        """Returns the foremost that can go on."""
        pool = [s for s in runnable if s.about.kind != WAIT] or runnable
        return self.foremost(pool, last)

    def foremost(self, pool: Sequence[Task], last: Task | None) -> Task:
        """Returns the one of a pool that comes first."""
        by_number = {s.number: s for s in pool}
        for number in self.first:
            if number in by_number:
                return by_number[number]
        if last is not None and last.number in by_number:
            return by_number[last.number]
        return by_number[min(by_number)]


class Backwards(Ahead):
    """One warp or thread after another, the last one first."""

    def foremost(self, pool: Sequence[Task], last: Task | None) -> Task:
        """Returns the one of a pool that comes first."""
        goes_on = [s for s in pool if last is not None and s.number == last.number]
        return goes_on[0] if goes_on else max(pool, key=lambda s: s.number)


class Hold(Ahead):
    """One warp or thread waits just before an access until another has done its own.

    Args:
        held, until: the two accesses; `held` is reached first, as far as that is possible.
        race: what they are of.
        kind: whether warps or single threads are ordered.
    """

    def __init__(self, held: Point, until: Point, race: Race, kind: Kind) -> None:
        self.held = held
        self.until = until
        self.holder = race.number(held.thread, kind)
        self.mover = race.number(until.thread, kind)
        super().__init__((self.holder, self.mover), kind)
        self.holding = False
        self.released = False
        self._moving = False

    def choose(self, runnable: Sequence[Task], last: Task | None) -> Task:
        """Returns the foremost that can go on and is not held."""
        if self._moving and last is not None and last.number == self.mover:
            self.released = True  # it was about to, and it went on
        held = [s for s in runnable if s.number == self.holder and self.held.here(s.about)]
        self.holding |= bool(held)
        pool: Sequence[Task] = runnable
        if held and not self.released:
            pool = [s for s in runnable if s.number != self.holder] or runnable
        chosen = super().choose(pool, last)
        self._moving = (
            self.holding and chosen.number == self.mover and self.until.here(chosen.about)
        )
        return chosen


class LateStore(Ahead, Observer):
    """A block's plain stores on one line reach the other blocks late.

    Nothing but a fence keeps a GPU from it. The block itself sees what it wrote; others do once one
    of its threads comes to a fence, the grid meets, or the launch ends.

    Args:
        stored: one of the stores.
        race: what it is of.
    """

    def __init__(self, stored: Point, race: Race) -> None:
        super().__init__((race.number(stored.thread, "warps"),), "warps")
        self.stored = stored
        self.block = stored.thread // race.per_block
        self.per_block = race.per_block
        self.late: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._fresh: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.happened = False

    def begin(self, setting: Setting) -> None:
        """Forgets an earlier launch."""
        self.late, self._fresh = [], []

    def batch(self, lanes: Lanes) -> None:
        """Learns which threads there are."""
        self.lanes = lanes

    def access(self, access: Access) -> None:
        """Remembers what a late store covers; gives the block back what it wrote itself."""
        mine = int(access.threads[0]) // self.per_block == self.block
        if not mine or access.array.name != self.stored.array:
            return
        if access.kind == "store" and access.line == self.stored.line:
            at = access.elements.copy()
            self._fresh.append((access.array.flat, at, access.array.flat[at].copy()))
        else:
            self.arrive()

    def choose(self, runnable: Sequence[Task], last: Task | None) -> Task:
        """Hides the store that has just been made, and goes on."""
        for flat, at, before in self._fresh:
            self.late.append((flat, at, flat[at].copy()))
            flat[at] = before
            self.happened = True
        self._fresh = []
        return super().choose(runnable, last)

    def fence(self, line: int, mask: Mask, *, within_block: bool = False) -> None:
        """A fence of the block makes its stores seen, where it reaches beyond the block."""
        if within_block:
            return
        if (self.lanes.global_thread[mask.lanes] // self.per_block == self.block).any():
            self.arrive()
            self._fresh = []

    def grid_barrier(self, line: int) -> None:
        """Where the grid meets, all that was written is seen."""
        self.arrive()

    def arrive(self) -> None:
        """Lets the late stores arrive."""
        for flat, at, values in self.late:
            flat[at] = values
        self.late = []

"""What a race detector remembers: for each unit of memory, who touched it, and when.

**Where only barriers order, a few accesses per unit are enough.** Threads form groups inside
groups: a thread, its warp, its block, the grid. A barrier of the block, a warp barrier of a whole
warp, or one of the grid orders an access at time `a` before what a thread does now when `a < m(g)`:
here `g` is the smallest group with both threads in it, and `m(g)` when that group last met, as a
whole or as part of a larger group. So `m` of a group is never less than `m` of a group around it.

`Slots` keeps four accesses: the latest of all, and the latest by another thread, by another warp
and by another block than that one's. Let an access by `u` at `a` be unordered with thread `t`, and
let `g` be the smallest group of both, so `a >= m(g)`. Take the latest access by a thread outside
the child of `g` that holds `t`. It is as late as `a` or later; the smallest group it shares with
`t` is `g` or one around it, so it is unordered with `t` as well. And it is kept: it is the latest
of all, unless that one lies in the same child of `g` as `t`; then it is the latest by another
thread, warp or block. Hence some kept access is unordered whenever any access is, and none is ever
reported without being so.

**Where knowledge goes astray, all of them are kept.** A fence with an atomic, or a warp barrier of
some lanes, tells a thread of any set of others. `Sets` then keeps each thread's latest access to a
unit, as FastTrack does (Flanagan and Freund, PLDI 2009) for reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from simt.machine.lanes import WARP
from simt.machine.observer import Access

NOBODY = 0
THREAD_BITS = 32
_THREAD = (1 << THREAD_BITS) - 1
UNIT_SHIFT = 27  # a launch has at most 2**27 lanes
MAX_PAIRS = 1 << 20


def pack(threads: np.ndarray, time: int) -> np.ndarray:
    """Returns int64 (n,), accesses as one number each; NOBODY is none."""
    return (threads + 1) | (time << THREAD_BITS)


def threads_in(entries: np.ndarray) -> np.ndarray:
    """Returns int64 (n,), who; -1 for NOBODY."""
    return (entries & _THREAD) - 1


def times_in(entries: np.ndarray) -> np.ndarray:
    """Returns int64 (n,), when."""
    return entries >> THREAD_BITS


class Slots:
    """The latest access to each unit, and the latest by another thread, warp and block.

    Args:
        units: how many.
        per_block: threads of a block.
        levels: which of "thread", "warp" and "block" can matter.
    """

    def __init__(self, units: int, per_block: int, levels: tuple[str, ...]) -> None:
        self.per_block = per_block
        self.levels = levels
        self.kept = np.zeros((1, units), np.int64)
        self.rows: dict[str, int] = {}

    def entries(self, units: np.ndarray) -> np.ndarray:
        """Returns what is kept of some units (n,), int64 (slots in use, n), the latest first."""
        return self.kept.take(units, axis=1)

    def crowded(self, units: np.ndarray) -> np.ndarray:
        """True for units that several threads have touched."""
        if "thread" not in self.rows:
            return np.zeros(units.size, bool)
        return self.kept[self.rows["thread"]].take(units) != NOBODY

    def enter(
        self, units: np.ndarray, threads: np.ndarray, time: int, run: slice | None = None
    ) -> np.ndarray | None:
        """Enters an access by several lanes; what is there now where some touch the same unit.

        Args:
            units, threads: int64 (n,), what each lane touches, and who it is.
            time: when.
            run: the units as a slice, where they follow one another.
        """
        entries, latest = pack(threads, time), self.kept[0]
        if run is not None:
            before = latest[run].copy()
            latest[run] = entries
            if np.count_nonzero(before):
                self._displace(units, before, entries)
            return None
        before = latest.take(units)
        latest[units] = entries
        now = latest.take(units)
        out = now != entries
        shared = np.count_nonzero(out) > 0
        if np.count_nonzero(before):
            self._displace(units, before, now)
        if shared:
            self._displace(units[out], entries[out], now[out])
        return now if shared else None

    def _displace(self, units: np.ndarray, before: np.ndarray, now: np.ndarray) -> None:
        """Keeps what was the latest where the one that is so now is of another group."""
        was, here = threads_in(before), threads_in(now)
        moved = ((before != NOBODY) & (was != here)).nonzero()[0]
        if not moved.size:
            return
        units, before, was, here = units[moved], before[moved], was[moved], here[moved]
        for level in self.levels:
            other = self._group(was, level) != self._group(here, level)
            if np.count_nonzero(other):
                if level not in self.rows:
                    self.rows[level] = len(self.kept)
                    self.kept = np.concatenate([self.kept, np.zeros_like(self.kept[:1])])
                self.kept[self.rows[level], units[other]] = before[other]

    def _group(self, threads: np.ndarray, level: str) -> np.ndarray:
        if level == "thread":
            return threads
        blocks = threads // self.per_block
        if level == "block":
            return blocks
        inside = threads - blocks * self.per_block
        return blocks * self.per_block + inside // WARP


class Sets:
    """The latest access of each thread to each unit.

    They lie in sorted runs, each at least twice as long as the next, so that adding n accesses one
    by one costs n log n in all.
    """

    def __init__(self) -> None:
        self.runs: list[tuple[np.ndarray, np.ndarray]] = []
        self.size = 0

    def add(self, units: np.ndarray, threads: np.ndarray, time: int) -> None:
        """Adds an access by several lanes."""
        keys = (units << UNIT_SHIFT) | threads
        times = np.full(keys.size, time, np.int32)
        self._push(*_latest(keys, times))

    def _push(self, keys: np.ndarray, times: np.ndarray) -> None:
        while self.runs and self.runs[-1][0].size < 2 * keys.size:
            older = self.runs.pop()
            keys, times = _latest(
                np.concatenate([older[0], keys]), np.concatenate([older[1], times])
            )
        self.runs.append((keys, times))
        self.size = sum(run[0].size for run in self.runs)

    def find(
        self, units: np.ndarray, low: np.ndarray | int, high: np.ndarray | int
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yields who touched some units, and when, a piece at a time.

        Args:
            units: int64 (n,).
            low, high: the threads asked for, from `low` up to `high`, itself not included.

        Yields:
            Three (m,) at a time: which of the units, the thread, the time.
        """
        for keys, times in self.runs:
            first = np.searchsorted(keys, (units << UNIT_SHIFT) + low)
            counts = np.searchsorted(keys, (units << UNIT_SHIFT) + high) - first
            ends = np.cumsum(counts)
            start = 0
            while start < units.size:
                done = ends[start - 1] if start else 0
                stop = max(start + 1, int(np.searchsorted(ends, done + MAX_PAIRS)))
                part = counts[start:stop]
                which = np.repeat(np.arange(start, start + part.size), part)
                if which.size:
                    within = np.arange(which.size) - np.repeat(np.cumsum(part) - part, part)
                    at = first[which] + within
                    yield which, keys[at] & ((1 << UNIT_SHIFT) - 1), times[at]
                start = stop


def _latest(keys: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns sorted keys, each once with its latest time."""
    if np.count_nonzero(keys[1:] > keys[:-1]) == keys.size - 1:
        return keys, times  # as those of one access mostly are
    order = np.lexsort((times, keys))
    keys, times = keys[order], times[order]
    last = np.concatenate((keys[1:] != keys[:-1], [True]))
    return keys[last], times[last]


class History:
    """All accesses of one kind to the units of one allocation, as far as they can matter.

    Attributes:
        slots: a few for each unit.
        sets: all, or None where a few are enough.
        last: when the last one was; 0 before the first.
    """

    def __init__(self, units: int, per_block: int, levels: tuple[str, ...], *, whole: bool) -> None:
        self.slots = Slots(units, per_block, levels)
        self.sets = Sets() if whole else None
        self.last = 0

    def enter(
        self,
        access: Access,
        first: int,
        width: int,
        time: int,
        chosen: np.ndarray | None = None,
    ) -> np.ndarray | None:
        """Enters an access by several lanes; what is there now where some touch the same unit.

        Args:
            access: the access.
            first, width: see `units_of`.
            time: when.
            chosen: int64, which of its lanes, in turn; None: all of them.
        """
        self.last = time
        units, threads = units_of(access, first, width), access.threads
        if chosen is not None:
            units, threads = units[chosen], threads[chosen]
            if self.sets is not None:
                self.sets.add(units, threads, time)
            return self.slots.enter(units, threads, time)
        if self.sets is not None:
            self.sets.add(units, threads, time)
        places = access.places if (first, width) == (0, 1) else None
        return self.slots.enter(units, threads, time, places if isinstance(places, slice) else None)


def units_of(access: Access, first: int, width: int) -> np.ndarray:
    """Returns int64 (n,), the unit that each lane of an access touches.

    Args:
        access: the access.
        first: the unit where its array begins; of a wide element, the part of it that is meant.
        width: units of an element.
    """
    elements = access.elements
    return elements if (first, width) == (0, 1) else first + elements * width


class Reads(NamedTuple):
    """Loads not yet entered in the shadow: most are overtaken by a barrier before any store."""

    time: int
    access: Access
    first: int
    width: int

    @property
    def units(self) -> np.ndarray:
        """int64 (n,), one unit per lane."""
        return units_of(self.access, self.first, self.width)


class Shadow:
    """What happened to the units of one allocation.

    Args:
        unit_bytes, units: how it is divided.
        per_block, levels, whole: see `History`.

    Attributes:
        pending: loads that are not yet among `readers`.
        readers, writers: who loaded, and who stored.
        updaters: who updated it atomically, in turn.
        probers: whose compare-and-swap failed: who reads it, and not as it were plainly.
    """

    def __init__(
        self, unit_bytes: int, units: int, per_block: int, levels: tuple[str, ...], *, whole: bool
    ) -> None:
        self.unit_bytes = unit_bytes
        self.pending: list[Reads] = []
        self.readers, self.writers, self.updaters, self.probers = (
            History(units, per_block, levels, whole=whole) for _ in range(4)
        )

    def histories(self) -> tuple[History, History, History, History]:
        """All that touched it, by what they did."""
        return self.readers, self.writers, self.updaters, self.probers

    def read_later(self, reads: Reads, most: int) -> None:
        """Remembers loads, to be entered with others or never."""
        self.pending.append(reads)
        if len(self.pending) > most:
            self.enter_reads()

    def enter_reads(self) -> None:
        """Enters the loads that wait for it."""
        for reads in self.pending:
            self.readers.enter(reads.access, reads.first, reads.width, reads.time)
        self.pending.clear()

    def forget_reads_of(self, blocks: np.ndarray, slots_of: Callable[[Access], np.ndarray]) -> None:
        """Some blocks have met: what they have read themselves lies before all that they will do.

        Args:
            blocks: bool (blocks of the batch,), True for those.
            slots_of: the places within the batch of the blocks that take part in an access.
        """
        self.pending = [each for each in self.pending if not blocks[slots_of(each.access)].all()]

    def forget(self) -> None:
        """All that has happened is ordered before all that will; what is in the slots may stay."""
        self.pending.clear()
        for history in self.histories():
            if history.sets is not None:
                history.sets = Sets()

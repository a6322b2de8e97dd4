"""What happens before what: barriers, warp barriers, fences with atomics, grid barriers.

Times count the accesses and barriers of a launch. Within a block a barrier orders what came before
against what comes after; a warp barrier does so for the lanes that met there, and for what each of
them knew of other lanes of the warp. Between blocks there is release and acquire: writes, a fence,
an atomic update of a cell; then an atomic update that finds that value or a later one, and a fence.
What a thread has learned in this way, a barrier hands on to its block. A fence of the block alone
counts between threads of one block only.

An atomic that learns, and no fence after it: what is known is *loose*, and hardware mostly keeps
it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from gpu_course.simt.lanes import WARP, Lanes, Mask
from gpu_course.simt.observer import Access


class Log:
    """What atomic updates of one cell have told, release after release.

    Attributes:
        keys, until: up to which time the accesses of a thread (key: its number) or of a block (key:
            -1 - its number) have happened.
        ends: for each release, how many of these it and those before it told.
        known: all of it, with what the releasing threads had learned from other logs.
    """

    def __init__(self) -> None:
        self.keys: list[int] = []
        self.until: list[int] = []
        self.ends: list[int] = []
        self.known = NOTHING
        self._told: dict[int, int] = {}

    def news(self, thread: int, time: int) -> bool:
        """True when a thread has not yet told what it knew at a time."""
        return self._told.get(thread) != time

    def tell(self, thread: int, time: int, told: dict[int, int], known: Known) -> None:
        """Adds a release: key -> time, and what its thread had learned."""
        self._told[thread] = time
        self.keys += told.keys()
        self.until += told.values()
        self.ends.append(len(self.keys))
        self.known = Known({**self.known.join(known).logs, self: len(self.ends)})


class Known:
    """What a thread has learned: of each log, how many releases. Never changes.

    Args:
        logs: log -> how many of its releases.
    """

    __slots__ = ("_table", "logs")

    def __init__(self, logs: dict[Log, int]) -> None:
        self.logs = logs
        self._table: tuple[np.ndarray, np.ndarray] | None = None

    def __bool__(self) -> bool:
        return bool(self.logs)

    def join(self, other: Known) -> Known:
        """Returns all that either knows."""
        if not other.logs or self is other:
            return self
        if not self.logs:
            return other
        large, small = (self, other) if len(self.logs) >= len(other.logs) else (other, self)
        new = {log: n for log, n in small.logs.items() if large.logs.get(log, 0) < n}
        return Known({**large.logs, **new}) if new else large

    def covers(self, threads: np.ndarray, times: np.ndarray, per_block: int) -> np.ndarray:
        """Returns bool (n,), True where an access by a thread at a time has surely happened."""
        if self._table is None:
            self._table = self._tabulate()
        keys, until = self._table
        found = np.zeros(threads.size, bool)
        for wanted in (threads, -1 - threads // per_block):
            at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
            found |= (keys[at] == wanted) & (times < until[at])
        return found

    def _tabulate(self) -> tuple[np.ndarray, np.ndarray]:
        """The keys of its logs in order, each once with its latest time."""
        heard = [(log, log.ends[n - 1]) for log, n in self.logs.items()]
        keys = np.concatenate([np.array(log.keys[:end], np.int64) for log, end in heard])
        until = np.concatenate([np.array(log.until[:end], np.int64) for log, end in heard])
        order = np.lexsort((until, keys))
        keys, until = keys[order], until[order]
        last = np.concatenate((keys[1:] != keys[:-1], [True]))
        return keys[last], until[last]


NOTHING = Known({})


class Learned(NamedTuple):
    """What was learned from atomics.

    Attributes:
        firm: before a fence of one's own.
        near: since, of threads of the own block: any fence makes it firm.
        loose: since, of anybody: a fence of the whole device makes it firm.
    """

    firm: Known = NOTHING
    near: Known = NOTHING
    loose: Known = NOTHING

    def join(self, other: Learned) -> Learned:
        """Returns what either has learned."""
        return Learned(*(mine.join(theirs) for mine, theirs in zip(self, other, strict=True)))

    def fenced(self, *, within_block: bool) -> Learned:
        """Returns what is left to make firm after a fence, and what is firm."""
        firm = self.firm.join(self.near)
        if within_block:
            return Learned(firm, NOTHING, self.loose)
        return Learned(firm.join(self.loose))


class Snapshot:
    """What each lane passes on with its next atomic: what it knew at its last fence."""

    def __init__(self, lanes: int) -> None:
        self.fenced = np.zeros(lanes, np.int32)
        self.met = np.zeros(lanes, np.int32)
        self.company: dict[int, np.ndarray] = {}
        self.firm: dict[int, Known] = {}


class Order:
    """Answers whether an earlier access happened before what lanes of this batch do now.

    Args:
        per_block: threads of a block.
        within_block: whether the launch has fences that count within a block only.
    """

    def __init__(self, per_block: int, *, within_block: bool = False) -> None:
        self.per_block = per_block
        self.within_block = within_block
        self.grid_met = 0
        self.logs: dict[tuple[int, ...], Log] = {}

    def batch(self, lanes: Lanes) -> None:
        """A batch of blocks starts: nobody in it has met anybody."""
        self.lanes = lanes
        # When the block of each place in the batch last met at a barrier, and the earliest of it.
        self.met = np.zeros(len(lanes.blocks), np.int32)
        self.all_met = 0
        # When the whole warp of each lane last met; and, once only a part of a warp has, up to when
        # each lane knows what each lane of its warp did: (lanes, 32).
        self.warp_met = np.zeros(lanes.count, np.int32)
        self.any_warp_met = False
        self.lanes_met: np.ndarray | None = None
        self.slots = {int(block): slot for slot, block in enumerate(lanes.blocks)}
        self.any_fence = False
        self.wide = Snapshot(lanes.count)
        self.narrow = Snapshot(lanes.count) if self.within_block else self.wide
        # Of each block: what its threads have learned since it met, and what it knew then.
        self.by_thread: defaultdict[int, dict[int, Learned]] = defaultdict(dict)
        self.by_block: dict[int, Learned] = {}
        # Shared memory ends with its block.
        self.logs = {cell: log for cell, log in self.logs.items() if cell[0] >= 0}

    # Meetings

    def barrier(self, time: int, blocks: np.ndarray) -> None:
        """Some blocks of the batch, True in `blocks`, met at a barrier."""
        self.met[blocks] = time
        self.all_met = int(self.met.min())
        for block in [b for b in self.by_thread if blocks[self.slots[b]]]:
            learned = self.by_thread.pop(block)
            self.by_block[block] = _together([*learned.values(), self._of_block(block)])

    def grid_barrier(self, time: int) -> None:
        """All blocks of the grid met: whatever was learned before is known to everybody."""
        self.grid_met = time
        self.by_thread.clear()
        self.by_block.clear()
        self.barrier(time, np.ones(len(self.lanes.blocks), bool))

    def warp_barrier(self, time: int, mask: Mask) -> None:
        """Lanes met within their warps."""
        self.any_warp_met = True
        whole = self.lanes_met is None and _whole_warps(mask, self.lanes.alive)
        if whole:
            self.warp_met[mask.lanes] = time
        else:
            self._part_met(time, mask)
        if self.by_thread:
            for lanes in _by_warp(mask.lanes):
                self._share(self.lanes.global_thread[lanes].tolist())

    def _part_met(self, time: int, mask: Mask) -> None:
        """Some lanes of a warp tell each other all they know of the warp's lanes."""
        if self.lanes_met is None:
            self.lanes_met = np.zeros((self.lanes.count, WARP), np.int32)
        warps = np.unique(mask.lanes // WARP)
        here = mask.active.reshape(-1, WARP)[warps]
        rows = self.lanes_met.reshape(-1, WARP, WARP)[warps]
        known = np.where(here[:, :, None], rows, 0).max(axis=1)
        known[here] = time
        merged = np.where(here[:, :, None], known[:, None, :], rows)
        self.lanes_met.reshape(-1, WARP, WARP)[warps] = merged

    def _share(self, threads: list[int]) -> None:
        learned = self.by_thread.get(threads[0] // self.per_block, {})
        known = [learned[thread] for thread in threads if thread in learned]
        if known:
            learned.update(dict.fromkeys(threads, _together(known)))

    # Release and acquire

    def fence(self, time: int, mask: Mask, *, within_block: bool = False) -> None:
        """Lanes put a fence between what they did and what they do."""
        self.any_fence = True
        lanes = mask.lanes
        if self.by_thread or self.by_block:
            for lane in lanes.tolist():
                self._make_firm(int(self.lanes.global_thread[lane]), within_block)
        taken = [self.narrow] if within_block else [self.wide]
        if self.within_block and not within_block:
            taken.append(self.narrow)
        for snapshot in taken:
            snapshot.fenced[lanes] = time
            snapshot.met[lanes] = self.met[self.lanes.slot[lanes]]
            if self.any_warp_met:
                snapshot.company.update(zip(lanes.tolist(), self._company(lanes), strict=True))
            if self.by_thread or self.by_block or snapshot.firm:
                for lane in lanes.tolist():
                    snapshot.firm[lane] = self._learned(int(self.lanes.global_thread[lane])).firm

    def _make_firm(self, thread: int, within_block: bool) -> None:
        learned = self._learned(thread)
        if learned.near or learned.loose:
            own = self.by_thread[thread // self.per_block]
            own[thread] = learned.fenced(within_block=within_block)

    def _company(self, lanes: np.ndarray) -> np.ndarray:
        """int32 (n, 32): up to when each of some lanes knows what its warp's lanes did."""
        known = np.repeat(self.warp_met[lanes, None], WARP, axis=1)
        return known if self.lanes_met is None else np.maximum(known, self.lanes_met[lanes])

    def _of_block(self, block: int) -> Learned:
        return self.by_block.get(block, Learned())

    def _learned(self, thread: int) -> Learned:
        block = thread // self.per_block
        known = self._of_block(block)
        own = self.by_thread[block].get(thread) if block in self.by_thread else None
        return known if own is None else known.join(own)

    def update(self, access: Access) -> None:
        """Lanes update cells atomically, in the order of `access.turns`."""
        if not (self.any_fence or self.logs):
            return
        array, lanes = access.array, access.mask.lanes
        first = array.address - array.allocation.address
        swaps = _Swaps(access)
        for turn in access.turns.tolist():
            element = int(access.elements[turn])
            cell = array.allocation.number, first + element * array.dtype.itemsize
            thread, lane = int(access.threads[turn]), int(lanes[turn])
            block = thread // self.per_block
            wrote = swaps.wrote(turn, element)
            self._learn(thread, cell, block)
            if wrote and self.wide.fenced[lane]:
                self._tell(cell, self.wide, lane, thread)
            if wrote and self.within_block and self.narrow.fenced[lane]:
                self._tell((*cell, block), self.narrow, lane, thread)

    def _learn(self, thread: int, cell: tuple[int, int], block: int) -> None:
        far, near = self.logs.get(cell), self.logs.get((*cell, block))
        if far is None and near is None:
            return
        learned = self.by_thread[block].get(thread, Learned())
        self.by_thread[block][thread] = Learned(
            learned.firm,
            learned.near if near is None else learned.near.join(near.known),
            learned.loose if far is None else learned.loose.join(far.known),
        )

    def _tell(self, cell: tuple[int, ...], snapshot: Snapshot, lane: int, thread: int) -> None:
        """Passes on what a thread and its block had done before its fence."""
        time = int(snapshot.fenced[lane])
        log = self.logs.get(cell)
        if log is None:
            log = self.logs[cell] = Log()
        if not log.news(thread, time):
            return
        told = {-1 - thread // self.per_block: int(snapshot.met[lane])}
        if lane in snapshot.company:
            first = lane - lane % WARP
            company = snapshot.company[lane].tolist()
            alive = self.lanes.alive.active[first : first + WARP].tolist()
            base = thread - lane % WARP
            told |= {
                base + k: met
                for k, met in enumerate(company)
                if alive[k] and met > snapshot.met[lane]
            }
        told[thread] = time
        log.tell(thread, time, told, snapshot.firm.get(lane, NOTHING))

    # The answer

    def informed(self, lanes: np.ndarray) -> np.ndarray:
        """Returns bool (n,), True for lanes that may know of any set of other threads."""
        if self.lanes_met is not None:
            return np.ones(lanes.size, bool)
        blocks = np.zeros(len(self.lanes.blocks), bool)
        for block in {*self.by_thread, *self.by_block}:
            blocks[self.slots[block]] = True
        return blocks[self.lanes.slot[lanes]]

    def company_of(self, lanes: np.ndarray) -> np.ndarray:
        """Returns int64 (n,): lanes with one number know the same of other blocks' threads."""
        threads = self.lanes.global_thread[lanes]
        alone = [t for learned in self.by_thread.values() for t in learned]
        return np.where(np.isin(threads, alone), threads, -1 - threads // self.per_block)

    def before(
        self, threads: np.ndarray, times: np.ndarray, lanes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Returns what is ordered, and what would be with one more fence.

        Args:
            threads, times: int (n,), earlier accesses: who, and when.
            lanes: int64 (n,), the lanes of this batch that touch the same cells now.

        Returns:
            Two bool (n,): ordered, and ordered but for the fence after the atomic.
        """
        slots = self.lanes.slot[lanes]
        same_block = threads // self.per_block == self.lanes.blocks[slots]
        ordered = same_block & (times < self.met[slots])
        if self.grid_met:
            ordered |= times < self.grid_met
        if self.any_warp_met:
            ordered |= self._in_warp(threads, times, lanes, same_block)
        loose = np.zeros(len(threads), bool)
        if self.by_thread or self.by_block:
            left = np.flatnonzero(~ordered)
            for learned, part in self._by_knowledge(lanes[left]):
                at = left[part]
                who, when = threads[at], times[at]
                if learned.firm:
                    ordered[at] = learned.firm.covers(who, when, self.per_block)
                for known in (learned.near, learned.loose):
                    if known:
                        loose[at] |= known.covers(who, when, self.per_block)
            loose &= ~ordered
        return ordered, loose

    def _in_warp(
        self, threads: np.ndarray, times: np.ndarray, lanes: np.ndarray, same_block: np.ndarray
    ) -> np.ndarray:
        inside = threads % self.per_block
        own = lanes % self.lanes.lanes_per_block
        until = self.warp_met[lanes]
        if self.lanes_met is not None:
            until = np.maximum(until, self.lanes_met[lanes, inside % WARP])
        return np.asarray(same_block & (inside // WARP == own // WARP) & (times < until))

    def _by_knowledge(self, lanes: np.ndarray) -> Iterator[tuple[Learned, np.ndarray]]:
        """Yields what lanes have learned, and which of them: those that know the same together."""
        threads = self.lanes.global_thread[lanes]
        blocks = threads // self.per_block
        for block in np.unique(blocks).tolist():
            own = self.by_thread.get(block, {})
            if not own and block not in self.by_block:
                continue
            at = np.flatnonzero(blocks == block)
            alone = np.isin(threads[at], list(own)) if own else np.zeros(at.size, bool)
            if not alone.all() and block in self.by_block:
                yield self.by_block[block], at[~alone]
            for thread in np.unique(threads[at[alone]]).tolist():
                yield self._learned(thread), at[threads[at] == thread]


class _Swaps:
    """Which lanes write, in turn: all of an atomic's, but for a compare-and-swap that fails."""

    def __init__(self, access: Access) -> None:
        self.access = access
        self.compares = access.expected is not None
        if self.compares:
            shape = access.elements.shape
            self.expected = np.broadcast_to(access.expected, shape)
            self.values = np.broadcast_to(access.values, shape)
            self.now: dict[int, object] = {}

    def wrote(self, turn: int, element: int) -> bool:
        """Returns whether a lane whose turn it is writes."""
        if not self.compares:
            return True
        found = self.now.get(element, self.access.array.flat[element])
        if found != self.expected[turn]:
            return False
        self.now[element] = self.values[turn]
        return True


def _together(learned: Iterable[Learned]) -> Learned:
    found = Learned()
    for each in learned:
        found = found.join(each)
    return found


def _whole_warps(mask: Mask, alive: Mask) -> bool:
    """True when of each warp either all threads or none are in a mask."""
    if mask.count == alive.count:
        return True
    warps, counts = np.unique(mask.lanes // WARP, return_counts=True)
    return bool((alive.active.reshape(-1, WARP)[warps].sum(axis=1) == counts).all())


def _by_warp(lanes: np.ndarray) -> list[np.ndarray]:
    """Ascending lanes, those of each warp together."""
    return np.split(lanes, np.flatnonzero(np.diff(lanes // WARP)) + 1)

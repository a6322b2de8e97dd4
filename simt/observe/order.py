"""What happens before what: barriers, warp barriers, fences with atomics, grid barriers.

Times count the accesses and barriers of a launch. Within a block a barrier orders what came before
against what comes after; a warp barrier does so for the lanes that met there, and for what each of
them knew of other lanes of the warp. Between blocks there is release and acquire: writes, a fence,
an atomic update of a cell; then an atomic update that finds that value or a later one, and a fence.
What a thread has learned in this way, a barrier hands on to its block. A fence of the block alone
counts between threads of one block only.

**Whose fence.** It need not be that of the thread that counts. `cuda.threadfence` compiles to a
fence that is sequentially consistent: all such fences stand in one order, which agrees with what
atomics find. Let a fence come before one atomic, by way of the program and of barriers, and another
fence after a second atomic, which finds what the first one wrote. Were the second fence the earlier
one, the second atomic would come before the first. So all that lies before the one fence happens
before all that follows the other, and an atomic passes on what its thread knows to be fenced, by
itself or by those that it has met at a barrier since. That is the part of the order that every run
with these values has. A compare-and-swap that fails is seen by nobody, and passes nothing on. A
fence of the block is not followed through another block and back, where the model lets it count.

An atomic that learns, and no fence after it: what is known is *loose*. The compiled code may still
read what lies in the cache of its multiprocessor from before.

Source: NVIDIA, PTX ISA: Memory Consistency Model (causality order; morally strong operations;
Fence-SC), and `membar`, which is the same as `fence.sc` from compute capability 7.0 on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from simt.machine.lanes import WARP, Lanes, Mask
from simt.machine.observer import Access
from simt.observe.known import NOTHING, Known, known_until


class Log:
    """What atomic updates of one cell have told, release after release.

    Attributes:
        known: all of it.
    """

    def __init__(self) -> None:
        self.known = NOTHING
        self._told: dict[int, int] = {}

    def news(self, thread: int, since: int) -> bool:
        """True when a thread has not yet told what it can tell since a time."""
        return self._told.get(thread) != since

    def tell(self, thread: int, since: int, known: Known) -> None:
        """Adds a release."""
        self._told[thread] = since
        self.known = self.known.join(known)


class Learned(NamedTuple):
    """What was learned from atomics.

    Attributes:
        firm: before a fence of one's own.
        near: since, of threads of the own block: any fence makes it firm.
        loose: since, of anybody: a fence of the whole device makes it firm.
        relayed: the part of `near` that those threads could have told any block.
    """

    firm: Known = NOTHING
    near: Known = NOTHING
    loose: Known = NOTHING
    relayed: Known = NOTHING

    def join(self, other: Learned) -> Learned:
        """Returns what either has learned."""
        return Learned(*(mine.join(theirs) for mine, theirs in zip(self, other, strict=True)))

    def fenced(self, *, within_block: bool) -> Learned:
        """Returns what is left to make firm after a fence, and what is firm."""
        firm = self.firm.join(self.near)
        if within_block:
            return Learned(firm, NOTHING, self.loose)
        return Learned(firm.join(self.loose))


class Fenced:
    """What each lane passes on with its next atomic: all that lies before fences it knows of.

    Args:
        lanes: of the batch.

    Attributes:
        since: when that of each lane last grew by a fence or a warp barrier; 0: there is nothing.
        block_since: when that of each block last grew at a barrier.
    """

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.any = False
        per_lane, blocks = np.zeros((3, lanes.count), np.int32), len(lanes.blocks)
        # Of each lane: up to when its own accesses lie before such a fence, and up to when those
        # of its whole block do; and, once warps meet, those of each lane of its warp: (lanes, 32).
        self.until, self.met, self.since = per_lane
        self.warp: np.ndarray | None = None
        # By block, and lane: what had been learned from atomics.
        self.known: defaultdict[int, dict[int, Known]] = defaultdict(dict)
        # Of each block, what a barrier has passed on to all of it: the same.
        self.block_until = np.zeros((blocks, lanes.lanes_per_block), np.int32)
        self.block_met, self.block_since = np.zeros((2, blocks), np.int32)
        self.block_known: dict[int, Known] = {}

    def fence(
        self, time: int, lanes: np.ndarray, met: np.ndarray, company: np.ndarray | None
    ) -> None:
        """Lanes put a fence behind all they know.

        Args:
            time: when.
            lanes: int64 (n,).
            met: int32 (n,), when the block of each last met.
            company: int32 (n, 32), up to when each knows what its warp's lanes did; or None.
        """
        self.any = True
        self.until[lanes] = self.since[lanes] = time
        self.met[lanes] = met
        if company is not None:
            self._rows()[lanes] = company
        if self.warp is not None:
            self.warp[lanes, lanes % WARP] = time

    def learned(self, lane: int, known: Known, time: int) -> None:
        """What a lane had learned from atomics lies before a fence as well."""
        if known:
            own = self.known[int(self.lanes.slot[lane])]
            own[lane] = own.get(lane, NOTHING).join(known)
            self.since[lane] = time

    def _rows(self) -> np.ndarray:
        if self.warp is None:
            everybody = np.arange(self.lanes.count)
            self.warp = np.zeros((self.lanes.count, WARP), np.int32)
            self.warp[everybody, everybody % WARP] = self.until
        return self.warp

    def barrier(self, time: int, slots: np.ndarray) -> None:
        """Blocks, int64 (n,), meet: each thread may pass on what any of them could."""
        if not self.any:
            return
        blocks, per_block = len(self.lanes.blocks), self.lanes.lanes_per_block
        grown = self.since.reshape(blocks, per_block)[slots].max(axis=1) > self.block_since[slots]
        slots = slots[grown]
        until = self.until.reshape(blocks, per_block)[slots]
        if self.warp is not None:
            rows = self.warp.reshape(blocks, -1, WARP, WARP)[slots].max(axis=2)
            until = np.maximum(until, rows.reshape(until.shape))
        self.block_until[slots] = np.maximum(self.block_until[slots], until)
        met = self.met.reshape(blocks, per_block)[slots].max(axis=1, initial=0)
        self.block_met[slots] = np.maximum(self.block_met[slots], met)
        self.block_since[slots] = time
        for slot in slots.tolist() if self.known else ():
            known = self.block_known.get(slot, NOTHING)
            for own in self.known.pop(slot, {}).values():
                known = known.join(own)
            self.block_known[slot] = known

    def warp_barrier(self, time: int, mask: Mask) -> None:
        """Lanes meet within their warps: each may pass on what any of them could."""
        if not (self.any and np.count_nonzero(self.since[mask.lanes])):
            return
        warps, here = _met(mask)
        for each in (self._rows(), self.met):
            parts = each.reshape(-1, WARP, *each.shape[1:])
            old = parts[warps]
            within = here.reshape(*here.shape, *[1] * (each.ndim - 1))
            most = np.where(within, old, 0).max(axis=1, keepdims=True)
            parts[warps] = np.where(within, most, old)
        self.since[mask.lanes] = time
        for lanes in _by_warp(mask.lanes) if self.known else ():
            own = self.known[int(self.lanes.slot[lanes[0]])]
            together = NOTHING
            for lane in lanes.tolist():
                together = together.join(own.get(lane, NOTHING))
            if together:
                own.update(dict.fromkeys(lanes.tolist(), together))

    def told_since(self, lane: int) -> int:
        """Returns when what a lane can tell last grew; 0 where it can tell nothing."""
        return int(max(self.since[lane], self.block_since[self.lanes.slot[lane]]))

    def tell(self, lane: int) -> Known:
        """Returns what a lane passes on with an atomic."""
        slot = int(self.lanes.slot[lane])
        per_block = self.lanes.threads_per_block
        block = int(self.lanes.blocks[slot])
        inside = lane - slot * self.lanes.lanes_per_block
        met = int(max(self.met[lane], self.block_met[slot]))
        passed = self.block_since[slot] > self.until[lane]
        if not passed and self.warp is None:
            here, times = np.array([inside]), self.until[lane : lane + 1]
        else:
            times = self.block_until[slot].copy()
            times[inside] = max(times[inside], self.until[lane])
            if self.warp is not None:
                first = inside - inside % WARP
                mates = times[first : first + WARP]
                np.maximum(mates, self.warp[lane], out=mates)
            times = times[:per_block]
            met = max(met, int(times.min()))
            here = np.flatnonzero(times > met)
            times = times[here]
        known = known_until(block * per_block + here, times, block, met)
        own = self.known[slot].get(lane, NOTHING) if slot in self.known else NOTHING
        return known.join(self.block_known.get(slot, NOTHING)).join(own)


RELAYED, HEARD = 1, 2
"""Mark two more logs of a cell and a block: what its threads told of fences of the whole device,
and what they had only heard of, to be made firm by such a fence, when they put one of the block."""


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
        self.all_met = self.last_met = 0
        # When the whole warp of each lane last met; and, once only a part of a warp has, up to when
        # each lane knows what each lane of its warp did: (lanes, 32).
        self.warp_met = np.zeros(lanes.count, np.int32)
        self.any_warp_met = False
        self.lanes_met: np.ndarray | None = None
        self.wide = Fenced(lanes)
        self.narrow = Fenced(lanes) if self.within_block else self.wide
        self.heard = Fenced(lanes) if self.within_block else self.wide
        self.fenced = (self.wide, self.narrow) if self.within_block else (self.wide,)
        self.passing = (*self.fenced, self.heard) if self.within_block else self.fenced
        # Of each block: what its threads have learned since it met, and what it knew then.
        self.by_thread: defaultdict[int, dict[int, Learned]] = defaultdict(dict)
        self.by_block: dict[int, Learned] = {}
        # Shared memory ends with its block.
        self.logs = {cell: log for cell, log in self.logs.items() if cell[0] >= 0}

    # Meetings

    def barrier(self, time: int, blocks: np.ndarray) -> None:
        """Some blocks of the batch, True in `blocks`, met at a barrier."""
        slots = np.flatnonzero(blocks)
        self.met[slots] = time
        self.all_met, self.last_met = int(self.met.min()), time
        for each in self.passing:
            each.barrier(time, slots)
        for block in self.lanes.blocks[slots].tolist() if self.by_thread else ():
            learned = self.by_thread.pop(block, {})
            if learned:
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
        for each in self.passing:
            each.warp_barrier(time, mask)
        if self.by_thread:
            for lanes in _by_warp(mask.lanes):
                self._share(self.lanes.global_thread[lanes].tolist())

    def _part_met(self, time: int, mask: Mask) -> None:
        """Some lanes of a warp tell each other all they know of the warp's lanes."""
        if self.lanes_met is None:
            self.lanes_met = np.zeros((self.lanes.count, WARP), np.int32)
        warps, here = _met(mask)
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
        lanes = mask.lanes
        company = self._company(lanes) if self.any_warp_met else None
        met = self.met[self.lanes.slot[lanes]]
        taken = (self.narrow,) if within_block else self.fenced
        for each in taken:
            each.fence(time, lanes, met, company)
        if self.by_thread or self.by_block:
            for lane in lanes.tolist():
                thread = int(self.lanes.global_thread[lane])
                if within_block:
                    self._relay(lane, self._learned(thread), time)
                self._make_firm(thread, within_block)
                for each in taken:
                    each.learned(lane, self._learned(thread).firm, time)

    def _relay(self, lane: int, learned: Learned, time: int) -> None:
        """A fence of the block passes on what fences of the device have told within the block."""
        for fenced, known in ((self.wide, learned.relayed), (self.heard, learned.loose)):
            if known:
                fenced.any = True
                fenced.learned(lane, known, time)

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

    def update(self, access: Access, wrote: np.ndarray | None = None) -> None:
        """Lanes update cells atomically, in the order of `access.turns`.

        Args:
            access: the atomic.
            wrote: bool (n,), the lanes that write; None: all of them.
        """
        if not (self.wide.any or self.narrow.any or self.logs):
            return
        array, lanes = access.array, access.mask.lanes
        first = array.address - array.allocation.address
        for turn in access.turns.tolist():
            element = int(access.elements[turn])
            cell = array.allocation.number, first + element * array.dtype.itemsize
            thread, lane = int(access.threads[turn]), int(lanes[turn])
            block = thread // self.per_block
            self._learn(thread, cell, block)
            if wrote is not None and not wrote[turn]:
                continue
            self._tell(cell, self.wide, lane, thread)
            if self.within_block:
                self._tell((*cell, block), self.narrow, lane, thread)
                self._tell((*cell, block, RELAYED), self.wide, lane, thread)
                self._tell((*cell, block, HEARD), self.heard, lane, thread)

    def _learn(self, thread: int, cell: tuple[int, int], block: int) -> None:
        far, near = self.logs.get(cell), self.logs.get((*cell, block))
        if far is None and near is None:
            return
        relayed, heard = (self.logs.get((*cell, block, mark)) for mark in (RELAYED, HEARD))
        learned = self.by_thread[block].get(thread, Learned())
        loose = learned.loose if far is None else learned.loose.join(far.known)
        self.by_thread[block][thread] = Learned(
            learned.firm,
            learned.near if near is None else learned.near.join(near.known),
            loose if heard is None else loose.join(heard.known),
            learned.relayed if relayed is None else learned.relayed.join(relayed.known),
        )

    def _tell(self, cell: tuple[int, ...], fenced: Fenced, lane: int, thread: int) -> None:
        """Passes on what lies before fences that a thread knows of."""
        since = fenced.told_since(lane)
        if not since:
            return
        log = self.logs.get(cell)
        if log is None:
            log = self.logs[cell] = Log()
        if log.news(thread, since):
            log.tell(thread, since, fenced.tell(lane))

    # The answer

    def informed(self, lanes: np.ndarray) -> np.ndarray:
        """Returns bool (n,), True for lanes that may know of any set of other threads."""
        if self.lanes_met is not None:
            return np.ones(lanes.size, bool)
        slots = self.lanes.slot[lanes]
        blocks = self.lanes.blocks[np.unique(slots)].tolist()
        knowing = [b for b in blocks if b in self.by_thread or b in self.by_block]
        return np.isin(self.lanes.blocks[slots], knowing)

    def company_of(self, lanes: np.ndarray) -> np.ndarray:
        """Returns int64 (n,): lanes with one number know the same of other blocks' threads."""
        threads = self.lanes.global_thread[lanes]
        blocks = threads // self.per_block
        alone = [t for b in np.unique(blocks).tolist() for t in self.by_thread.get(b, ())]
        return np.where(np.isin(threads, alone), threads, -1 - blocks)

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


def which_write(access: Access) -> np.ndarray | None:
    """Returns bool (n,), the lanes of an atomic that write; None where all of them do.

    All do, but for those of a compare-and-swap that fails when its turn comes.
    """
    if access.expected is None:
        return None
    shape = access.elements.shape
    expected = np.broadcast_to(access.expected, shape)
    values = np.broadcast_to(access.values, shape)
    wrote = np.zeros(shape, bool)
    now: dict[int, object] = {}
    for turn in access.turns.tolist():
        element = int(access.elements[turn])
        if now.get(element, access.array.flat[element]) == expected[turn]:
            now[element] = values[turn]
            wrote[turn] = True
    return wrote


def _together(learned: Iterable[Learned]) -> Learned:
    found = Learned()
    for each in learned:
        found = found.join(each)
    return found


def _met(mask: Mask) -> tuple[np.ndarray, np.ndarray]:
    """The warps of a mask, int64 (n,), and bool (n, 32), which of their lanes are in it."""
    active = mask.part.active.reshape(-1, WARP)
    return np.unique(mask.lanes // WARP), active[active.any(axis=1)]


def _whole_warps(mask: Mask, alive: Mask) -> bool:
    """True when of each warp either all threads or none are in a mask."""
    if mask.count == alive.count:
        return True
    warps, counts = np.unique(mask.lanes // WARP, return_counts=True)
    return bool((alive.active.reshape(-1, WARP)[warps].sum(axis=1) == counts).all())


def _by_warp(lanes: np.ndarray) -> list[np.ndarray]:
    """Ascending lanes, those of each warp together."""
    return np.split(lanes, np.flatnonzero(np.diff(lanes // WARP)) + 1)

"""What happens before what: barriers, warp barriers, fences with atomics, grid barriers.

Times count the accesses and barriers of a launch. Within a block a barrier orders what came before
against what comes after; a warp barrier does so for the lanes that met there. Between blocks there
is release and acquire: writes, a fence, an atomic update of a cell; then an atomic update that
finds that value or a later one. What a thread has acquired, a barrier hands on to its block.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gpu_course.simt.access import Access
from gpu_course.simt.lanes import WARP, Lanes, Mask


@dataclass
class Clock:
    """Up to which time the accesses of blocks and of single threads have surely happened."""

    blocks: dict[int, int] = field(default_factory=dict)
    threads: dict[int, int] = field(default_factory=dict)

    def join(self, other: Clock) -> None:
        """Learns all that another clock knows."""
        for mine, theirs in ((self.blocks, other.blocks), (self.threads, other.threads)):
            for key, time in theirs.items():
                if mine.get(key, 0) < time:
                    mine[key] = time

    def covers(self, thread: int, block: int, time: int) -> bool:
        """True when an access by a thread at a time is among those known to have happened."""
        return self.blocks.get(block, 0) > time or self.threads.get(thread, 0) > time


@dataclass
class _Acquired:
    """What was learned from atomics: before a fence of one's own, and since."""

    firm: Clock = field(default_factory=Clock)
    loose: Clock = field(default_factory=Clock)

    def join(self, other: _Acquired) -> None:
        self.firm.join(other.firm)
        self.loose.join(other.loose)


class Order:
    """Answers whether an earlier access happened before what lanes of this batch do now."""

    def __init__(self, per_block: int) -> None:
        self.per_block = per_block
        self.grid_met = 0
        self.released: dict[tuple[int, int], Clock] = {}

    def batch(self, lanes: Lanes) -> None:
        """A batch of blocks starts: nobody in it has met anybody."""
        self.lanes = lanes
        # When the block of each place in the batch last met at a barrier, and the earliest of it.
        self.met = np.zeros(len(lanes.blocks), np.int32)
        self.all_met = 0
        self.warp_met = np.zeros(lanes.count, np.int32)
        self.fenced = np.zeros(lanes.count, np.int32)
        self.met_at_fence = np.zeros(lanes.count, np.int32)
        # By lane: the threads it had met in its warp before its fence, and when.
        self.met_in_warp: dict[int, tuple[np.ndarray, int]] = {}
        self.slots = {int(block): slot for slot, block in enumerate(lanes.blocks)}
        self.any_fence = False
        self.by_thread: dict[int, _Acquired] = {}
        self.by_block: dict[int, _Acquired] = {}

    def barrier(self, time: int, blocks: np.ndarray) -> None:
        """Some blocks of the batch, True in `blocks`, met at a barrier."""
        self.met[blocks] = time
        self.all_met = int(self.met.min())
        for thread, acquired in self.by_thread.items():
            block = thread // self.per_block
            if blocks[self.slots[block]]:
                self.by_block.setdefault(block, _Acquired()).join(acquired)

    def grid_barrier(self, time: int) -> None:
        """All blocks of the grid met."""
        self.grid_met = time
        self.barrier(time, np.ones(len(self.lanes.blocks), bool))

    def warp_barrier(self, time: int, mask: Mask) -> None:
        """Lanes met within their warps."""
        self.warp_met[mask.active] = time
        if not self.by_thread:
            return
        for lanes in _by_warp(mask.lanes):
            threads = self.lanes.global_thread[lanes].tolist()
            known = [self.by_thread[t] for t in threads if t in self.by_thread]
            if known:
                together = _Acquired()
                for acquired in known:
                    together.join(acquired)
                for thread in threads:
                    self.by_thread.setdefault(thread, _Acquired()).join(together)

    def fence(self, time: int, mask: Mask) -> None:
        """Lanes put a fence between what they did and what they do."""
        self.any_fence = True
        self.fenced[mask.active] = time
        self.met_at_fence[mask.active] = self.met[self.lanes.slot[mask.active]]
        if self.warp_met.any():
            for lane in mask.lanes[self.warp_met[mask.lanes] > 0].tolist():
                self.met_in_warp[lane] = self._company(lane)
        for thread in set(self.by_thread) & set(self.lanes.global_thread[mask.lanes].tolist()):
            acquired = self.by_thread[thread]
            acquired.firm.join(acquired.loose)
            block = self.by_block.get(thread // self.per_block)
            if block is not None:
                block.firm.join(block.loose)

    def _company(self, lane: int) -> tuple[np.ndarray, int]:
        """The threads that a lane last met in its warp, and when."""
        first, time = lane - lane % WARP, int(self.warp_met[lane])
        together = np.flatnonzero(self.warp_met[first : first + WARP] == time) + first
        return self.lanes.global_thread[together], time

    def update(self, access: Access) -> None:
        """Lanes update cells atomically, in the order of `access.turns`."""
        if not (self.any_fence or self.released):
            return
        number = access.array.allocation.number
        lanes = access.mask.lanes
        for turn in access.turns.tolist():
            cell = (number, int(access.elements[turn]))
            thread = int(access.threads[turn])
            known = self.released.get(cell)
            if known is not None:
                self.by_thread.setdefault(thread, _Acquired()).loose.join(known)
            clock = self._release(thread, int(lanes[turn]))
            if clock is not None:
                self.released.setdefault(cell, Clock()).join(clock)

    def _release(self, thread: int, lane: int) -> Clock | None:
        """What a thread's atomic passes on: what it and its block had done before its fence."""
        if not self.fenced[lane]:
            return None
        clock = Clock({thread // self.per_block: int(self.met_at_fence[lane])})
        if lane in self.met_in_warp:
            others, met = self.met_in_warp[lane]
            clock.threads = dict.fromkeys(others.tolist(), met)
        clock.threads[thread] = int(self.fenced[lane])
        if thread in self.by_thread:
            clock.join(self.by_thread[thread].firm)
        block = self.by_block.get(thread // self.per_block)
        if block is not None:
            clock.join(block.firm)
        return clock

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
        ordered = (same_block & (times < self.met[slots])) | (times < self.grid_met)
        if self.warp_met.any():
            ordered |= self._in_warp(threads, times, lanes, slots, same_block)
        loose = np.zeros(len(threads), bool)
        if self.by_thread or self.by_block:
            for k in np.flatnonzero(~ordered).tolist():
                ordered[k], loose[k] = self._acquired(
                    int(threads[k]), int(times[k]), int(self.lanes.global_thread[lanes[k]])
                )
        return ordered, loose

    def _in_warp(
        self,
        threads: np.ndarray,
        times: np.ndarray,
        lanes: np.ndarray,
        slots: np.ndarray,
        same_block: np.ndarray,
    ) -> np.ndarray:
        theirs = slots * self.lanes.lanes_per_block + threads % self.per_block
        together = same_block & (theirs // 32 == lanes // 32)
        theirs = np.where(together, theirs, lanes)
        met = self.warp_met[lanes]
        return np.asarray(together & (self.warp_met[theirs] == met) & (times < met))

    def _acquired(self, thread: int, time: int, now: int) -> tuple[bool, bool]:
        block = thread // self.per_block
        known = [self.by_thread.get(now), self.by_block.get(now // self.per_block)]
        acquired = [k for k in known if k is not None]
        if any(k.firm.covers(thread, block, time) for k in acquired):
            return True, False
        return False, any(k.loose.covers(thread, block, time) for k in acquired)


def _by_warp(lanes: np.ndarray) -> list[np.ndarray]:
    """Ascending lanes, those of each warp together."""
    return np.split(lanes, np.flatnonzero(np.diff(lanes // WARP)) + 1)

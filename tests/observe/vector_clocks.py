"""What a race detector must find, worked out the long way: one clock per thread and thread.

Every access is kept for good, and compared with every other one to its cell. It shares with the
simulator's own detector what it is told, and nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from gpu_course.observe.races import Races
from gpu_course.simt.lanes import Lanes, Mask
from gpu_course.simt.observer import Access, Observer, Setting

Clock = list[int]
Cell = tuple[int, int, int]
"""Which batch (of shared memory), which allocation, which byte of it."""


def _join(clocks: list[Clock]) -> Clock:
    return [max(times) for times in zip(*clocks, strict=True)]


class VectorClocks(Observer):
    """Finds every race of a launch.

    Attributes:
        racing: the cells with a race.
        loose: the cells where a fence is missing after an atomic that told of the other access.
    """

    def begin(self, setting: Setting) -> None:
        x, y, z = setting.block
        self.per_block = x * y * z
        threads = int(np.prod(setting.grid)) * self.per_block
        self.stored = setting.stored
        self.count = [0] * threads  # of accesses
        # What each thread knows: for certain; after any fence; after a fence of the device.
        self.firm = [[0] * threads for _ in range(threads)]
        self.near = [[0] * threads for _ in range(threads)]
        self.loose_known = [[0] * threads for _ in range(threads)]
        # What each thread knew at its last fence of any kind, and at its last of the device.
        self.at_fence: list[Clock | None] = [None] * threads
        self.at_wide_fence: list[Clock | None] = [None] * threads
        self.released: dict[Cell, list[tuple[int, Clock | None, Clock | None]]] = defaultdict(list)
        self.seen: dict[Cell, list[tuple[int, int, str]]] = defaultdict(list)
        self.racing: set[Cell] = set()
        self.loose: set[Cell] = set()
        self.batches = 0

    def batch(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.batches += 1

    # Meetings

    def _meet(self, threads: list[int]) -> None:
        for clocks in (self.firm, self.near, self.loose_known):
            together = _join([clocks[t] for t in threads])
            for t in threads:
                clocks[t] = list(together)

    def barrier(self, line: int, mask: Mask, blocks: np.ndarray) -> None:
        for block in self.lanes.blocks[blocks].tolist():
            self._meet(list(range(block * self.per_block, (block + 1) * self.per_block)))

    def warp_barrier(self, line: int, mask: Mask) -> None:
        warps = defaultdict(list)
        for lane in mask.lanes.tolist():
            warps[lane // 32].append(int(self.lanes.global_thread[lane]))
        for threads in warps.values():
            self._meet(threads)

    def grid_barrier(self, line: int) -> None:
        self._meet(list(range(len(self.count))))

    # Release and acquire

    def fence(self, line: int, mask: Mask, *, within_block: bool = False) -> None:
        for t in self.lanes.global_thread[mask.lanes].tolist():
            known = [self.firm[t], self.near[t]] + ([] if within_block else [self.loose_known[t]])
            self.firm[t] = _join(known)
            self.at_fence[t] = list(self.firm[t])
            if not within_block:
                self.at_wide_fence[t] = list(self.firm[t])

    def _synchronise(self, t: int, cell: Cell, wrote: bool) -> None:
        block = t // self.per_block
        for other, any_fence, wide_fence in self.released[cell]:
            if other == block and any_fence is not None:
                self.near[t] = _join([self.near[t], any_fence])
            if wide_fence is not None:
                self.loose_known[t] = _join([self.loose_known[t], wide_fence])
        if wrote:
            self.released[cell].append((block, self.at_fence[t], self.at_wide_fence[t]))

    # Accesses

    def access(self, access: Access) -> None:
        if access.array.space not in ("global", "shared"):
            return
        order = access.turns if access.kind == "atomic" else range(access.threads.size)
        now: dict[int, Any] = {}
        for k in order:
            t, element = int(access.threads[k]), int(access.elements[k])
            self.count[t] += 1
            self.firm[t][t] = self.count[t]
            cells = cells_of(access, element, self.batches)
            if access.array.allocation.number in self.stored or access.array.space == "shared":
                for cell in cells:
                    self._touch(cell, t, access.kind)
            if access.kind == "atomic":
                wrote = True
                if access.expected is not None:
                    expected = np.broadcast_to(access.expected, access.threads.shape)[k]
                    wrote = now.get(element, access.array.flat[element]) == expected
                    if wrote:
                        now[element] = np.broadcast_to(access.values, access.threads.shape)[k]
                self._synchronise(t, cells[0], bool(wrote))

    def _touch(self, cell: Cell, t: int, kind: str) -> None:
        for other, time, other_kind in self.seen[cell]:
            kinds = {kind, other_kind}
            if other == t or kinds in ({"load"}, {"atomic"}) or time <= self.firm[t][other]:
                continue
            if time <= max(self.near[t][other], self.loose_known[t][other]):
                self.loose.add(cell)
            else:
                self.racing.add(cell)
        self.seen[cell].append((t, self.count[t], kind))


def cells_of(access: Access, element: int, batch: int) -> list[Cell]:
    """Returns the bytes of an element of an access's array."""
    array, size = access.array, access.array.dtype.itemsize
    number = array.allocation.number
    first = array.address - array.allocation.address + element * size
    return [(batch if number < 0 else 0, number, first + k) for k in range(size)]


class RecordedRaces(Races):
    """The simulator's detector, which also remembers the cells it reports, byte by byte."""

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        self.racing: set[Cell] = set()
        self.loose: set[Cell] = set()
        self.batches = 0

    def batch(self, lanes: Lanes) -> None:
        super().batch(lanes)
        self.batches += 1

    def _report(self, access: Access, lanes: np.ndarray, *rest: Any, **more: Any) -> None:
        found = self.loose if more.get("loose") else self.racing
        for element in np.unique(access.elements[lanes]).tolist():
            found.update(cells_of(access, element, self.batches))
        super()._report(access, lanes, *rest, **more)

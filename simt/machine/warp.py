"""One warp of a batch as lanes of its own, and what it does as the batch's observers see it.

A warp that takes turns with others computes with vectors of 32 lanes; observers know the lanes of
the whole batch. `WarpLanes` is the warp cut out of the batch, or one thread of it, and
`WarpAudience` tells the batch's observers in its own numbers.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from simt.machine.lanes import WARP, Lanes, Mask
from simt.machine.memory import Array
from simt.machine.observer import Access, Followed, Observer
from simt.vocabulary.allocate import Arena

if TYPE_CHECKING:
    from simt.kernel.ir import Statement
    from simt.report import Dim3
    from simt.vocabulary.allocate import Request


class WideMask(Mask):
    """A mask over one warp, as a mask over the whole batch; `active` only where somebody asks.

    Args:
        narrow: the mask over the warp.
        first: the batch's lane that is the warp's first.
        total: lanes of the batch.
    """

    __slots__ = ("_narrow", "first", "total")

    def __init__(self, narrow: Mask, first: int, total: int) -> None:
        self._narrow = narrow
        self.first = first
        self.total = total
        self.count = narrow.count
        self.threads = narrow.threads
        self._lanes = self._warps = self._warps_here = None
        self._warp_count = int(narrow.count > 0)

    @property
    def active(self) -> np.ndarray:  # type: ignore[override]
        """bool (lanes of the batch,); not kept: a batch has many lanes, and a task many masks."""
        active = np.zeros(self.total, bool)
        active[self.first : self.first + WARP] = self._narrow.active
        return active

    @property
    def part(self) -> Mask:
        """The mask over the warp."""
        return self._narrow

    @property
    def full(self) -> bool:
        """True when every lane of the batch is active."""
        return self.count == self.total

    @property
    def lanes(self) -> np.ndarray:
        """int64 (count,), the active lanes in order."""
        if self._lanes is None:
            self._lanes = self._narrow.lanes + self.first
        return self._lanes

    @property
    def warps_here(self) -> np.ndarray:
        """int64 (warp_count,), this warp of the batch, unless nobody is active."""
        if self._warps_here is None:
            self._warps_here = np.full(self._warp_count, self.first // WARP)
        return self._warps_here


class WarpLanes(Lanes):
    """One warp of a batch.

    Args:
        whole: the batch.
        first: its lane that is the warp's first.
        alive: bool (32,), the lanes of the warp that are in the warp.
    """

    def __init__(self, whole: Lanes, first: int, alive: np.ndarray) -> None:
        place = first // whole.lanes_per_block
        super().__init__(whole.grid, whole.block, whole.blocks[place : place + 1])
        self.whole = whole
        self.first = first
        self.count = WARP
        self._alive = Mask(alive)
        start = first % whole.lanes_per_block
        self._part = slice(start, start + WARP)

    @property
    def span(self) -> slice:
        """The warp's lanes within the batch."""
        return slice(self.first, self.first + WARP)

    @cached_property
    def alive(self) -> Mask:
        """The lanes that hold a thread of the warp."""
        return self._alive

    @cached_property
    def thread(self) -> np.ndarray:
        """int64 (32,), the linear number of each lane's thread within its block."""
        return self._in_block[self._part]

    @cached_property
    def block_number(self) -> np.ndarray:
        """int64 (32,), the linear number of each lane's block."""
        return np.repeat(self.blocks, WARP)

    def _component(self, what: str, axis: int, shape: Dim3) -> Any:
        known = (what, axis) in self._cache
        found = super()._component(what, axis, shape)
        if not known and what == "thread" and isinstance(found, np.ndarray):
            found = found[self._part]
        elif not known and shape[axis] > 1 and len(self.whole.blocks) > 1:
            # A vector wherever the whole batch has one, so that the same rules hold for it.
            found = np.full(WARP, found)
        self._cache[what, axis] = found
        return found


class WarpArena(Arena):
    """The shared and local memory of the batch, as one of its warps sees it."""

    def __init__(self, whole: Arena, window: WarpLanes) -> None:
        super().__init__(window, whole.dynamic_bytes)
        self.whole = whole
        self.window = window

    def array(self, number: int, asked: Request, name: str) -> Array:
        """Returns the array of a number; the same one each time it is reached."""
        if number not in self.arrays:
            self.arrays[number] = self._cut(self.whole.array(number, asked, name))
        return self.arrays[number]

    def _cut(self, array: Array) -> Array:
        fields = {name: self._cut(field) for name, field in array.fields.items()}
        return replace(array, origin=array.origin[self.window.span], fields=fields)


class WarpAudience(Observer):
    """Hands on what a warp does to the audience of the batch."""

    def __init__(self, audience: Observer, window: WarpLanes) -> None:
        self.audience = audience
        self.follows = audience.follows
        self.first = window.first
        self.total = window.whole.count

    def wide(self, mask: Mask) -> Mask:
        """Returns a mask over the batch; the same one for the same mask."""
        if mask.wide is None:
            mask.wide = WideMask(mask, self.first, self.total)
        return mask.wide

    def statement(self, machine: Followed, node: Statement, mask: Mask, turn: bool) -> None:
        """Lanes come to a statement."""
        self.audience.statement(machine, node, self.wide(mask), turn)

    def access(self, access: Access) -> None:
        """Lanes load, store or update atomically."""
        access.mask = self.wide(access.mask)
        self.audience.access(access)

    def branch(self, line: int, mask: Mask, taken: Mask, *, select: bool = False) -> None:
        """Lanes met a condition."""
        self.audience.branch(line, self.wide(mask), self.wide(taken), select=select)

    def warp_barrier(self, line: int, mask: Mask) -> None:
        """Lanes met within their warp."""
        self.audience.warp_barrier(line, self.wide(mask))

    def fence(self, line: int, mask: Mask, *, within_block: bool = False) -> None:
        """Lanes put a fence between what they did and what they do."""
        self.audience.fence(line, self.wide(mask), within_block=within_block)

    def shuffle(self, line: int, mask: Mask) -> None:
        """Lanes exchanged values."""
        self.audience.shuffle(line, self.wide(mask))

    def exchange(
        self, mask: Mask, sources: np.ndarray | None, sent: np.ndarray, received: np.ndarray
    ) -> None:
        """What lanes gave and got."""
        self.audience.exchange(self.wide(mask), sources, sent, received)

    def operations(self, line: int, kind: str, lanes: int) -> None:
        """So many lanes did one arithmetic operation."""
        self.audience.operations(line, kind, lanes)

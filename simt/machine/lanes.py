"""A batch of blocks laid out as lanes, and masks over them.

Every block starts on a fresh warp, so lane `n` of a batch belongs to warp `n // 32`. A block whose
size is no multiple of 32 leaves its last lanes without a thread; they are never active.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from simt.report import Dim3

WARP = 32
WARP_BITS = 5


class Mask:
    """Which lanes take part. What can be derived from it is derived once.

    Attributes:
        active: bool (lanes,), True for those that do.
        count: how many they are.
        threads: `Lanes.threads_of` it, once somebody has asked.
        wide: the same over a whole batch, of a mask over one warp that somebody has asked it of.
    """

    # By hand, since Python 3.11's cached_property takes a lock: masks are made all the time.
    __slots__ = (
        "_lanes", "_warp_count", "_warps", "_warps_here", "active", "count", "threads", "wide",
    )  # fmt: skip

    def __init__(self, active: np.ndarray) -> None:
        self.active = active
        self.count = int(np.count_nonzero(active))
        self.threads: np.ndarray | None = None
        self.wide: Mask | None = None
        self._lanes: np.ndarray | None = None
        self._warps: np.ndarray | None = None
        self._warps_here: np.ndarray | None = None
        self._warp_count = -1

    @property
    def full(self) -> bool:
        """True when every lane is active."""
        return self.count == self.active.size

    @property
    def part(self) -> Mask:
        """The same over fewer lanes, where it was made from such a one; whole warps of them."""
        return self

    @property
    def lanes(self) -> np.ndarray:
        """int64 (count,), the active lanes in order."""
        if self._lanes is None:
            self._lanes = self.active.nonzero()[0]
        return self._lanes

    @property
    def warps(self) -> np.ndarray:
        """int64 (count,), the warp of each active lane."""
        if self._warps is None:
            self._warps = self.lanes >> WARP_BITS
        return self._warps

    @property
    def warp_count(self) -> int:
        """How many warps have at least one active lane."""
        if self._warp_count < 0:
            self._warp_count = self.warps_here.size
        return self._warp_count

    @property
    def warps_here(self) -> np.ndarray:
        """int64 (warp_count,), the warps that have at least one active lane."""
        if self._warps_here is None:
            warps = self.active.reshape(-1, WARP)
            self._warps_here = np.logical_or.reduce(warps, axis=1).nonzero()[0]
        return self._warps_here

    @property
    def whole_warps(self) -> bool:
        """True where each warp has all of its 32 lanes or none."""
        return self.count == WARP * self.warp_count

    def __bool__(self) -> bool:
        return self.count > 0

    def __and__(self, condition: np.ndarray) -> Mask:
        return Mask(self.active & condition)

    def without(self, other: Mask) -> Mask:
        """Returns this mask less the lanes of another."""
        if not other:
            return self
        return Mask(self.active & ~other.active)

    def union(self, other: Mask) -> Mask:
        """Returns the lanes active in either."""
        if not other:
            return self
        if not self:
            return other
        return Mask(self.active | other.active)


class Lanes:
    """The lanes of one batch of blocks, and where each stands in the grid.

    Args:
        grid, block: the launch shape as (x, y, z).
        blocks: int64 (n,), the linear numbers of the batch's blocks, x fastest.

    Attributes:
        first: where these lanes begin within the batch: 0 but for a part of one.
    """

    first: int = 0

    def __init__(self, grid: Dim3, block: Dim3, blocks: np.ndarray) -> None:
        self.grid = grid
        self.block = block
        self.blocks = blocks
        self.threads_per_block = block[0] * block[1] * block[2]
        self.lanes_per_block = -(-self.threads_per_block // WARP) * WARP
        self.count = len(blocks) * self.lanes_per_block
        self._cache: dict[tuple[str, int], Any] = {}

    @property
    def grid_threads(self) -> int:
        """Threads of the whole grid."""
        return self.grid[0] * self.grid[1] * self.grid[2] * self.threads_per_block

    @cached_property
    def alive(self) -> Mask:
        """The lanes that hold a thread."""
        in_block = np.arange(self.lanes_per_block) < self.threads_per_block
        return Mask(np.tile(in_block, len(self.blocks)))

    @cached_property
    def nobody(self) -> Mask:
        """No lane at all."""
        return Mask(np.zeros(self.count, bool))

    @cached_property
    def thread(self) -> np.ndarray:
        """int64 (count,), the linear number of each lane's thread within its block."""
        return np.tile(self._in_block, len(self.blocks))

    @cached_property
    def _in_block(self) -> np.ndarray:
        # Lanes without a thread repeat the last one, so that no index runs out of range.
        return np.minimum(np.arange(self.lanes_per_block), self.threads_per_block - 1)

    @cached_property
    def block_number(self) -> np.ndarray:
        """int64 (count,), the linear number of each lane's block."""
        return np.repeat(self.blocks, self.lanes_per_block)

    @cached_property
    def slot(self) -> np.ndarray:
        """int64 (count,), the place of each lane's block within the batch."""
        return np.repeat(np.arange(len(self.blocks)), self.lanes_per_block)

    @cached_property
    def global_thread(self) -> np.ndarray:
        """int64 (count,), the linear number of each lane's thread in the whole grid."""
        return self.block_number * self.threads_per_block + self.thread

    def threads_of(self, mask: Mask) -> np.ndarray:
        """Returns int64 (mask.count,), `global_thread` of the lanes of a mask."""
        if mask.full:
            return self.global_thread
        if mask.threads is None:
            mask.threads = self.global_thread[mask.lanes]
        return mask.threads

    def thread_index(self, axis: int) -> Any:
        """Returns threadIdx along an axis: int32, a scalar where the block is one thread wide."""
        return self._component("thread", axis, self.block)

    def block_index(self, axis: int) -> Any:
        """Returns blockIdx along an axis: int32, a scalar where the batch agrees."""
        return self._component("block", axis, self.grid)

    def _component(self, what: str, axis: int, shape: Dim3) -> Any:
        key = (what, axis)
        if key not in self._cache:
            if shape[axis] == 1:
                self._cache[key] = np.int32(0)
            else:
                # Worked out for one block, or once per block, and copied to the other lanes.
                linear = self._in_block if what == "thread" else self.blocks
                inner = int(np.prod(shape[:axis], dtype=np.int64))
                found = (linear // inner % shape[axis]).astype(np.int32)
                if what == "thread":
                    self._cache[key] = np.tile(found, len(self.blocks))
                else:
                    same = len(self.blocks) == 1
                    self._cache[key] = found[0] if same else np.repeat(found, self.lanes_per_block)
        return self._cache[key]

    def global_index(self, axis: int) -> Any:
        """Returns what cuda.grid gives along an axis: int64."""
        key = ("global", axis)
        if key not in self._cache:
            block, thread = self.block_index(axis), self.thread_index(axis)
            self._cache[key] = block.astype(np.int64) * self.block[axis] + thread
        return self._cache[key]

    def lane_number(self) -> Any:
        """Returns the lane's place in its warp: int32, 0 to 31."""
        return (self.thread % WARP).astype(np.int32)

    def place(self, lane: int) -> tuple[Dim3, Dim3]:
        """Returns (block xyz, thread xyz) of one lane."""
        return (
            _unflatten(int(self.block_number[lane]), self.grid),
            _unflatten(int(self.thread[lane]), self.block),
        )


def _unflatten(linear: int, shape: Dim3) -> Dim3:
    x, y, _ = shape
    return linear % x, linear // x % y, linear // (x * y)


def place_of(global_thread: int, grid: Dim3, block: Dim3) -> tuple[Dim3, Dim3]:
    """Returns (block xyz, thread xyz) of a thread's linear number in the grid.

    >>> place_of(5, (2, 1, 1), (4, 1, 1))
    ((1, 0, 0), (1, 0, 0))
    """
    per_block = block[0] * block[1] * block[2]
    return (
        _unflatten(global_thread // per_block, grid),
        _unflatten(global_thread % per_block, block),
    )

"""How the work of a launch is shared: the cells each thread touches, and the steps it takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simt.machine.lanes import Lanes, Mask
from simt.machine.observer import Access, Observer, Setting

SPACES = "global", "shared"
MAX_WAITING = 1 << 20
"""Pairs of a thread and a cell that are kept before those seen twice are dropped."""


@dataclass(frozen=True)
class ThreadWork:
    """What each thread of a launch did to one array.

    Attributes:
        array: the kernel's name for it.
        space: "global" or "shared".
        wrote: True for cells stored to or updated atomically, False for cells that were read.
        cells: int64 (threads of the launch,), how many different cells each thread touched.
        touched: how many different cells all threads touched; of a shared array, those of each
            block by themselves.
    """

    array: str
    space: str
    wrote: bool
    cells: np.ndarray
    touched: int


@dataclass(frozen=True)
class Steps:
    """How much each thread of a launch does, step by step: what is done twice counts twice.

    Attributes:
        at_global: int64 (threads of the launch,), loads, stores and atomics of global memory.
        at_shared: int64 (threads of the launch,), the same of shared memory.
        shuffles: int64 (threads of the launch,), exchanges within its warp.
    """

    at_global: np.ndarray
    at_shared: np.ndarray
    shuffles: np.ndarray


class Shares(Observer):
    """Marks which thread touches which cell, through device functions and views alike.

    A cell that a thread touches twice counts once: to store a first guess and then the result is
    no more of a share than to store the result.
    """

    def __init__(self) -> None:
        self._block, self._threads = 1, 0
        self._touched: dict[tuple[int, str, bool], _Pairs] = {}
        self._steps: dict[str, np.ndarray] = {space: self._none() for space in SPACES}
        self._shuffles = self._none()

    def begin(self, setting: Setting) -> None:
        """A launch starts, or starts anew: what was seen is forgotten."""
        self._touched = {}
        self._block = int(np.prod(setting.block))
        self._threads = int(np.prod(setting.grid)) * self._block
        self._steps = {space: self._none() for space in SPACES}
        self._shuffles = self._none()

    def batch(self, lanes: Lanes) -> None:
        """A batch of blocks starts."""
        self._lanes = lanes

    def access(self, access: Access) -> None:
        """Marks the cells of one access."""
        array = access.array
        if array.space not in SPACES:
            return
        key = array.allocation.number, array.space, access.kind != "load"
        if key not in self._touched:
            whole = array.seen_of or array
            cells = whole.per_copy or whole.flat.size
            self._touched[key] = _Pairs(whole.name, cells, whole.dtype.itemsize)
        self._touched[key].add(access)
        self._steps[array.space][access.threads] += 1

    def shuffle(self, line: int, mask: Mask) -> None:
        """Counts a step for each lane of an exchange."""
        self._shuffles[self._lanes.threads_of(mask)] += 1

    def found(self) -> tuple[ThreadWork, ...]:
        """Returns the share of every thread in every array that was touched."""
        return tuple(
            ThreadWork(
                pairs.array,
                space,
                wrote,
                pairs.cells_of(self._threads),
                pairs.touched(self._block if space == "shared" else self._threads),
            )
            for (_, space, wrote), pairs in self._touched.items()
        )

    def steps(self) -> Steps:
        """Returns the steps of every thread."""
        return Steps(self._steps["global"], self._steps["shared"], self._shuffles)

    def _none(self) -> np.ndarray:
        return np.zeros(self._threads, np.int64)


class _Pairs:
    """Pairs of a thread and a cell of one array, each kept once."""

    def __init__(self, array: str, cells: int, size: int) -> None:
        self.array = array
        self.cells = cells
        self.size = size
        self.parts: list[np.ndarray] = []
        self.waiting = 0

    def add(self, access: Access) -> None:
        size = access.array.dtype.itemsize
        if size == self.size:
            self._add(access.threads, access.in_copy)
            return
        # Seen as cells of another size: each is a part of one cell, or several of them.
        base = (access.array.seen_of or access.array).address
        for byte in range(0, size, min(size, self.size)):
            self._add(access.threads, (access.addresses - base + byte) // self.size)

    def _add(self, threads: np.ndarray, cells: np.ndarray) -> None:
        self.parts.append(threads * self.cells + cells)
        self.waiting += threads.size
        if self.waiting > MAX_WAITING:
            self.each_once()

    def each_once(self) -> np.ndarray:
        if self.waiting:
            self.parts = [np.unique(np.concatenate(self.parts))]
            self.waiting = 0
        return self.parts[0]

    def touched(self, copy: int) -> int:
        """Returns how many different cells there are, where `copy` threads share a copy."""
        threads, cells = np.divmod(self.each_once(), self.cells)
        return int(np.unique(threads // copy * self.cells + cells).size)

    def cells_of(self, threads: int) -> np.ndarray:
        """Returns how many cells each thread is paired with, int64 (threads,)."""
        return np.bincount(self.each_once() // self.cells, minlength=threads)

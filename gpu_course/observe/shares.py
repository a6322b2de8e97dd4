"""How the work of a launch is shared: how many cells each thread writes and reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_course.simt.observer import Access, Observer, Setting

MOST_WAITING = 1 << 20
"""Pairs of a thread and a cell that are kept before those seen twice are dropped."""


@dataclass(frozen=True)
class Share:
    """What each thread of a launch did to one array.

    Attributes:
        array: the kernel's name for it.
        space: "global" or "shared".
        wrote: True for cells stored to or updated atomically, False for cells that were read.
        cells: int64 (threads of the launch,), how many different cells each thread touched.
    """

    array: str
    space: str
    wrote: bool
    cells: np.ndarray


class Shares(Observer):
    """Marks which thread touches which cell, through device functions and views alike.

    A cell that a thread touches twice counts once: to store a first guess and then the result is
    no more of a share than to store the result.
    """

    def __init__(self) -> None:
        self._touched: dict[tuple[int, str, bool], _Pairs] = {}

    def begin(self, setting: Setting) -> None:
        """A launch starts, or starts anew: what was seen is forgotten."""
        self._touched = {}
        self._threads = int(np.prod(setting.grid)) * int(np.prod(setting.block))

    def access(self, access: Access) -> None:
        """Marks the cells of one access."""
        array = access.array
        if array.space not in ("global", "shared"):
            return
        key = array.allocation.number, array.space, access.kind != "load"
        if key not in self._touched:
            whole = array.seen_of or array
            cells = whole.per_copy or whole.flat.size
            self._touched[key] = _Pairs(whole.name, cells, whole.dtype.itemsize)
        self._touched[key].add(access)

    def found(self) -> tuple[Share, ...]:
        """Returns the share of every thread in every array that was touched."""
        return tuple(
            Share(pairs.array, space, wrote, pairs.cells_of(self._threads))
            for (_, space, wrote), pairs in self._touched.items()
        )


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
        if self.waiting > MOST_WAITING:
            self.each_once()

    def each_once(self) -> np.ndarray:
        self.parts = [np.unique(np.concatenate(self.parts))]
        self.waiting = 0
        return self.parts[0]

    def cells_of(self, threads: int) -> np.ndarray:
        """Returns how many cells each thread is paired with, int64 (threads,)."""
        return np.bincount(self.each_once() // self.cells, minlength=threads)

"""How the work of a launch is shared: the cells each thread touches, and the steps it takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from simt.machine.lanes import Lanes, Mask
from simt.machine.observer import Access, Observer, Setting

SPACES = "global", "shared"
MAX_WAITING = 1 << 20
"""Pairs of a thread and a cell that are kept before those seen twice are dropped."""
MAX_MARKS = 1 << 23
"""So many pairs of an array have a byte each, which takes no sorting."""


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
        self._given: tuple[ThreadWork, ...] | None = None

    def begin(self, setting: Setting) -> None:
        """A launch starts, or starts anew: what was seen is forgotten."""
        self._touched = {}
        self._given = None
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
        whole = array.seen_of or array
        cells, size = whole.per_copy or whole.flat.size, whole.dtype.itemsize
        if key not in self._touched:
            self._touched[key] = _Pairs(whole.name, self._threads, cells, size)
        self._touched[key].has_room_for(cells * size)
        self._touched[key].add(access)
        self._steps[array.space][access.threads] += 1

    def shuffle(self, line: int, mask: Mask) -> None:
        """Counts a step for each lane of an exchange."""
        self._shuffles[self._lanes.threads_of(mask)] += 1

    def found(self) -> tuple[ThreadWork, ...]:
        """Returns the share of every thread in every array that was touched.

        By the names of the arrays: in which order threads come to them is nobody's share.
        """
        found = self._given if self._given is not None else self._watched()
        return tuple(sorted(found, key=lambda each: (each.array, each.space, each.wrote)))

    def given(self, found: Iterable[ThreadWork], steps: Steps) -> None:
        """Takes what somebody else has found of a launch, which did not watch it either."""
        self._given = tuple(found)
        self._steps = {"global": steps.at_global, "shared": steps.at_shared}
        self._shuffles = steps.shuffles

    def _watched(self) -> tuple[ThreadWork, ...]:
        return tuple(
            ThreadWork(
                pairs.array,
                space,
                wrote,
                pairs.cells_of(),
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
    """Pairs of a thread and a cell of one array, each kept once.

    Where there are few that could be, each has a mark; else those that were seen are kept.
    """

    def __init__(self, array: str, threads: int, cells: int, size: int) -> None:
        self.array = array
        self.threads, self.cells = threads, cells
        self.size = size
        few = threads * cells <= MAX_MARKS
        self.marks = np.zeros(threads * cells, np.uint8) if few else None
        self.parts: list[np.ndarray] = []
        self.waiting = 0

    def has_room_for(self, bytes_: int) -> None:
        """Leaves marks alone where another array in the same memory reaches further."""
        if self.marks is not None and bytes_ > self.cells * self.size:
            self.parts = [self.marks.nonzero()[0]]
            self.waiting = self.parts[0].size
            self.marks = None

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
        pairs = threads * self.cells + cells
        if self.marks is not None:
            self.marks[pairs] = 1
            return
        self.parts.append(pairs)
        self.waiting += threads.size
        if self.waiting > MAX_WAITING:
            self._each_once()

    def _each_once(self) -> np.ndarray:
        if self.waiting:
            self.parts = [np.unique(np.concatenate(self.parts))]
            self.waiting = 0
        return self.parts[0]

    def touched(self, copy: int) -> int:
        """Returns how many different cells there are, where `copy` threads share a copy."""
        if self.marks is not None:
            marks = self.marks.reshape(self.threads // copy, copy, self.cells)
            return int(np.count_nonzero(np.bitwise_or.reduce(marks, axis=1)))
        threads, cells = np.divmod(self._each_once(), self.cells)
        return int(np.unique(threads // copy * self.cells + cells).size)

    def cells_of(self) -> np.ndarray:
        """Returns how many cells each thread is paired with, int64 (threads,)."""
        if self.marks is not None:
            return self.marks.reshape(self.threads, self.cells).sum(axis=1, dtype=np.int64)
        return np.bincount(self._each_once() // self.cells, minlength=self.threads)

"""How the work of a launch is shared: how many cells each thread writes and reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_course.simt.access import Access
from gpu_course.simt.observer import Observer, Setting

MOST_PAIRS = 1 << 26
"""Pairs of a thread and a cell that are followed; launches of a puzzle stay far below."""


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
        self._touched: dict[tuple[int, str, bool], tuple[str, np.ndarray]] = {}

    def begin(self, setting: Setting) -> None:
        """A launch starts, or starts anew: what was seen is forgotten."""
        self._touched = {}
        self._threads = int(np.prod(setting.grid)) * int(np.prod(setting.block))

    def access(self, access: Access) -> None:
        """Marks the cells of one access."""
        array = access.array.root or access.array
        if array.space not in ("global", "shared"):
            return
        key = array.allocation.number, array.space, access.kind != "load"
        if key not in self._touched:
            cells = array.per_copy or array.flat.size
            if cells * self._threads > MOST_PAIRS:
                return
            self._touched[key] = array.name, np.zeros((self._threads, cells), bool)
        self._touched[key][1][access.threads, access.in_copy] = True

    def found(self) -> tuple[Share, ...]:
        """Returns the share of every thread in every array that was touched."""
        return tuple(
            Share(name, space, wrote, touched.sum(axis=1))
            for (_, space, wrote), (name, touched) in self._touched.items()
        )

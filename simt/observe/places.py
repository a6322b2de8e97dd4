"""Where threads stand, in words: one thread, threads of one block, those a fault names."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from simt.machine.faults import Fault
from simt.machine.lanes import WARP, place_of
from simt.report import Dim3

MAX_RUNS = 4


class Places:
    """Says where threads stand, in the words of a launch's shape."""

    def __init__(self, grid: Dim3, block: Dim3) -> None:
        self.grid = grid
        self.block = block
        self.per_block = block[0] * block[1] * block[2]
        self.flat = block[1] == block[2] == 1

    def thread(self, number: int) -> str:
        """Returns one thread: "block (0,0,0) thread 5"."""
        block, thread = place_of(number, self.grid, self.block)
        return f"block {triple(block)} thread {thread[0] if self.flat else triple(thread)}"

    def along(self, axis: int, numbers: np.ndarray, *, in_block: bool = False) -> np.ndarray:
        """Returns the index of threads along x, y or z: in the grid, or in their blocks."""
        shape = self.block[axis]
        block, thread = numbers // self.per_block, numbers % self.per_block
        inside = thread // math.prod(self.block[:axis]) % shape
        if in_block:
            return np.asarray(inside)
        return np.asarray(block // math.prod(self.grid[:axis]) % self.grid[axis] * shape + inside)

    def threads(self, numbers: np.ndarray) -> str:
        """Returns threads of one block: "threads 8..11 of 12 (warp 0)"."""
        inside = np.unique(numbers % self.per_block)
        if self.flat:
            listed = runs(inside)
        else:
            shown = [triple(place_of(int(t), (1, 1, 1), self.block)[1]) for t in inside[:MAX_RUNS]]
            more = len(inside) - len(shown)
            listed = ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")
        word = "thread" if len(inside) == 1 else "threads"
        return f"{word} {listed} of {self.per_block} ({self._warps(inside)})"

    def who(self, fault: Fault) -> str:
        """Returns the threads of a fault: those of its first block, and how many more blocks."""
        if not len(fault.threads):
            return ""
        blocks = fault.threads // self.per_block
        distinct = np.unique(blocks)
        first = fault.threads[blocks == distinct[0]]
        name = triple(place_of(int(first[0]), self.grid, self.block)[0])
        text = f"block {name}, {self.threads(first)}"
        if len(distinct) > 1:
            text += f", and threads of {len(distinct) - 1:,} more block{'s' * (len(distinct) > 2)}"
        return text

    def _warps(self, inside: np.ndarray) -> str:
        warps = np.unique(inside // WARP)
        return f"{'warp' if len(warps) == 1 else 'warps'} {runs(warps)}"


def triple(index: Dim3) -> str:
    """Returns an index as CUDA's documents write it.

    >>> triple((1, 0, 0))
    '(1,0,0)'
    """
    return f"({index[0]},{index[1]},{index[2]})"


def runs(numbers: Sequence[int] | np.ndarray) -> str:
    """Returns ascending numbers in short.

    >>> runs([0, 1, 2, 7, 9, 10])
    '0..2, 7, 9, 10'
    """
    values = np.asarray(numbers)
    breaks = np.flatnonzero(np.diff(values) != 1) + 1
    parts = []
    for run in np.split(values, breaks):
        if len(run) > 2:
            parts.append(f"{run[0]}..{run[-1]}")
        else:
            parts.extend(str(v) for v in run)
    if len(parts) > MAX_RUNS:
        shown = ", ".join(parts[: MAX_RUNS - 1])
        return f"{shown} and others up to {values[-1]}"
    return ", ".join(parts)

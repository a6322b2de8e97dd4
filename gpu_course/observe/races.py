"""Races in global memory: two threads, one cell, at least one write, nothing that orders them.

For every cell of memory that the kernel may write to, a shadow remembers who wrote it first and
who read it: enough to name both threads of a race whatever order the lanes ran in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_course.simt.faults import Fault, FaultLog
from gpu_course.simt.lanes import Lanes, Mask
from gpu_course.simt.launch import Setting
from gpu_course.simt.memory import Access

NOBODY = -1


@dataclass
class _Shadow:
    """Per unit of one allocation: the last writer, and up to two different readers, with lines."""

    unit: int
    writer: np.ndarray
    writer_line: np.ndarray
    reader: np.ndarray
    reader_line: np.ndarray
    other_reader: np.ndarray
    other_reader_line: np.ndarray

    @classmethod
    def of(cls, size: int, unit: int) -> _Shadow:
        count = -(-size // unit)
        fields = (np.full(count, NOBODY, np.int64 if k % 2 == 0 else np.int32) for k in range(6))
        return cls(unit, *fields)


class Races:
    """Watches every load and store of the allocations a kernel may write to."""

    def __init__(self) -> None:
        self.shadows: dict[int, _Shadow] = {}
        self.faults = FaultLog()

    def begin(self, setting: Setting) -> None:
        """Makes the shadows."""
        self.faults = setting.faults
        for array in setting.arrays.values():
            allocation = array.allocation
            if allocation.number in setting.stored and allocation.number not in self.shadows:
                sharing = [a for a in setting.arrays.values() if a.allocation is allocation]
                unit = min(a.dtype.itemsize for a in sharing)
                if any((a.address - allocation.address) % unit for a in sharing):
                    unit = 1
                self.shadows[allocation.number] = _Shadow.of(allocation.size, unit)

    def batch(self, lanes: Lanes) -> None:
        """Nothing orders blocks, so shadows live on from batch to batch."""

    def access(self, access: Access) -> None:
        """Compares one access with everything before it."""
        shadow = self.shadows.get(access.array.allocation.number)
        if shadow is None:
            return
        array = access.array
        first = (array.address - array.allocation.address) // shadow.unit
        width = array.dtype.itemsize // shadow.unit
        cells = first + access.elements * width
        for part in range(width):
            if access.kind == "load":
                self._read(shadow, access, cells + part)
            else:
                self._write(shadow, access, cells + part)

    def _read(self, shadow: _Shadow, access: Access, cells: np.ndarray) -> None:
        threads = access.threads
        writer = shadow.writer[cells]
        clash = (writer != NOBODY) & (writer != threads)
        if clash.any():
            self._report(access, clash, writer, shadow.writer_line[cells], "store")
        reader = shadow.reader[cells]
        fresh = reader == NOBODY
        if fresh.any():
            where = cells[fresh]
            shadow.reader[where] = threads[fresh]
            shadow.reader_line[where] = access.line
        # Lanes of this access that share a cell: one is now its reader, the rest are others.
        others = shadow.reader[cells] != threads
        if others.any():
            where = cells[others]
            shadow.other_reader[where] = threads[others]
            shadow.other_reader_line[where] = access.line

    def _write(self, shadow: _Shadow, access: Access, cells: np.ndarray) -> None:
        threads = access.threads
        writer = shadow.writer[cells]
        clash = (writer != NOBODY) & (writer != threads)
        if clash.any():
            same = _same(access, access.array.flat[access.elements])
            self._report(access, clash, writer, shadow.writer_line[cells], "store", same)
        for reader, line in (
            (shadow.reader, shadow.reader_line),
            (shadow.other_reader, shadow.other_reader_line),
        ):
            seen = reader[cells]
            clash = (seen != NOBODY) & (seen != threads)
            if clash.any():
                self._report(access, clash, seen, line[cells], "load")
        shadow.writer[cells] = threads
        shadow.writer_line[cells] = access.line
        kept = shadow.writer[cells]
        clash = kept != threads
        if clash.any():
            self._report(
                access, clash, kept, np.full(cells.size, access.line), "store", _agree(access)
            )

    def _report(
        self,
        access: Access,
        clash: np.ndarray,
        others: np.ndarray,
        lines: np.ndarray,
        other_kind: str,
        same_value: np.ndarray | None = None,
    ) -> None:
        for line in np.unique(lines[clash]):
            here = clash & (lines == line)
            at = int(np.flatnonzero(here)[0])
            same = same_value is not None and bool(np.all(same_value[here]))
            facts = {
                "array": access.array.name,
                "shape": access.array.shape,
                "cell": int(access.cells[at]),
                "access": access.kind,
                "thread": int(access.threads[at]),
                "other_access": other_kind,
                "other_thread": int(others[at]),
                "other_line": int(line),
                "same_value": same,
            }
            threads = np.unique(np.concatenate([access.threads[here], others[here]]))
            pair = tuple(sorted((access.line, int(line))))
            key = (access.array.name, *pair, *sorted((access.kind, other_kind)))
            count = int(np.count_nonzero(here))
            self.faults.add(Fault("race", access.line, threads, facts, count=count), key)

    def branch(self, line: int, mask: Mask, taken: Mask) -> None:
        """Branches order nothing."""

    def operations(self, line: int, kind: str, lanes: int) -> None:
        """Arithmetic orders nothing."""


def _same(access: Access, stored: np.ndarray) -> np.ndarray:
    """Whether each lane writes what the cell already holds."""
    return np.asarray(stored == access.values)


def _agree(access: Access) -> np.ndarray:
    """Whether all lanes that write one cell in this access write the same value."""
    values = np.broadcast_to(access.values, access.elements.shape)
    order = np.argsort(access.elements, kind="stable")
    cells, sorted_values = access.elements[order], values[order]
    starts = np.concatenate(([True], np.diff(cells) != 0))
    first = np.maximum.accumulate(np.where(starts, np.arange(cells.size), 0))
    differs = sorted_values != sorted_values[first]
    bad_cells = np.unique(cells[differs])
    return ~np.isin(access.elements, bad_cells)

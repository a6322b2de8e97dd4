"""Races: two threads, one cell, at least one write, not both atomic, and nothing that orders them.

For every cell of memory that a kernel may write to, a shadow remembers who wrote it last, who
updated it atomically and who read it, and when: enough to name both threads of a race whatever
order the lanes ran in. A barrier orders what the threads of a block did before it.
"""

from __future__ import annotations

import numpy as np

from gpu_course.observe.order import Order
from gpu_course.observe.shadow import NOBODY, Reads, Shadow, Slot, Units
from gpu_course.simt.access import Access
from gpu_course.simt.faults import Fault, FaultLog
from gpu_course.simt.lanes import Lanes, Mask
from gpu_course.simt.observer import Observer, Setting

MOST_PENDING = 64


class Races(Observer):
    """Watches every access to memory a kernel may write to."""

    def __init__(self) -> None:
        self.shadows: dict[int, Shadow] = {}
        self.faults = FaultLog()
        self.time = 0
        self.lines: list[int] = [0]
        self.kinds: list[str] = [""]

    def begin(self, setting: Setting) -> None:
        """Makes the shadows of global memory."""
        self.faults = setting.faults
        self.policy = setting.policy
        x, y, z = setting.block
        self.per_block = x * y * z
        self.order = Order(self.per_block)
        for array in setting.arrays.values():
            allocation = array.allocation
            if allocation.number in setting.stored and allocation.number not in self.shadows:
                same = [a for a in setting.arrays.values() if a.allocation is allocation]
                sharing = [part for a in same for part in (a.fields.values() or [a])]
                unit = min(a.dtype.itemsize for a in sharing)
                if any((a.address - allocation.address) % unit for a in sharing):
                    unit = 1
                self.shadows[allocation.number] = Shadow(unit, -(-allocation.size // unit))

    def batch(self, lanes: Lanes) -> None:
        """Nothing orders blocks, so shadows of global memory live on from batch to batch."""
        self.lanes = lanes
        self.order.batch(lanes)
        for number in [n for n in self.shadows if n < 0]:
            del self.shadows[number]

    def barrier(self, line: int, mask: Mask, blocks: np.ndarray) -> None:
        """Orders what a block did before against what it does from now on."""
        self.order.barrier(self._tick(line, "barrier"), blocks)
        if self.order.all_met == self.time:
            for number, shadow in self.shadows.items():
                if number < 0:
                    shadow.pending.clear()

    def grid_barrier(self, line: int) -> None:
        """Orders what all blocks did before against what they do from now on."""
        self.order.grid_barrier(self._tick(line, "barrier"))
        for shadow in self.shadows.values():
            shadow.pending.clear()

    def warp_barrier(self, line: int, mask: Mask) -> None:
        """Orders what lanes of one warp did before against what they do from now on."""
        self.order.warp_barrier(self._tick(line, "barrier"), mask)

    def fence(self, line: int, mask: Mask) -> None:
        """Lets the next atomic tell others what was done before."""
        self.order.fence(self._tick(line, "fence"), mask)

    def _tick(self, line: int, kind: str) -> int:
        self.time += 1
        self.lines.append(line)
        self.kinds.append(kind)
        return self.time

    def access(self, access: Access) -> None:
        """Compares one access with everything before it."""
        array = access.array
        if array.space not in ("global", "shared"):
            return
        shadow = self._shadow(access)
        if shadow is None:
            return
        self._tick(access.line, access.kind)
        width = array.dtype.itemsize // shadow.unit_bytes
        first = 0
        if array.space == "global":
            first = (array.address - array.allocation.address) // shadow.unit_bytes
        for part in range(width):
            self._one(shadow, access, Units(access, first + part, width))
        if access.kind == "atomic":
            self.order.update(access)

    def _shadow(self, access: Access) -> Shadow | None:
        array = access.array
        number = array.allocation.number
        if number not in self.shadows and array.space == "shared":
            # Dynamic memory may be seen through several dtypes, so it is watched byte by byte.
            unit = array.dtype.itemsize if array.static else 1
            self.shadows[number] = Shadow(unit, array.flat.nbytes // unit)
        return self.shadows.get(number)

    def _one(self, shadow: Shadow, access: Access, units: Units) -> None:
        if access.kind == "load":
            self._read(shadow, access, units)
        elif access.kind == "store":
            self._write(shadow, access, units.vector())
        else:
            self._update(shadow, access, units.vector())

    def _read(self, shadow: Shadow, access: Access, units: Units) -> None:
        if not self._settled(access, shadow.last_store):
            self._compare(access, units.vector(), shadow.writer)
        if shadow.updated:
            for slot in shadow.updaters:
                self._compare(access, units.vector(), slot)
        shadow.pending.append(Reads(self.time, units))
        if len(shadow.pending) > MOST_PENDING:
            self._enter_reads(shadow)

    def _write(self, shadow: Shadow, access: Access, units: np.ndarray) -> None:
        self._enter_reads(shadow)
        if not self._settled(access, shadow.last_store):
            self._compare(access, units, shadow.writer, same_value=True)
        if not self._settled(access, shadow.last_read):
            for slot in shadow.readers:
                self._compare(access, units, slot)
        if shadow.updated:
            for slot in shadow.updaters:
                self._compare(access, units, slot)
        shadow.last_store = self.time
        shadow.writer.put(units, access.threads, self.time)
        kept = shadow.writer.thread[units]
        clash = kept != access.threads
        if clash.any():
            times = np.full(units.size, self.time)
            self._report(access, clash, kept, times, _agree(access))

    def _update(self, shadow: Shadow, access: Access, units: np.ndarray) -> None:
        self._enter_reads(shadow)
        self._compare(access, units, shadow.writer)
        for slot in shadow.readers:
            self._compare(access, units, slot)
        self._enter(shadow.updaters, units, access.threads, self.time)

    def _enter_reads(self, shadow: Shadow) -> None:
        for reads in shadow.pending:
            units, threads = reads.units.vector(), reads.units.access.threads
            self._enter(shadow.readers, units, threads, reads.time)
            shadow.last_read = reads.time
        shadow.pending.clear()

    def _enter(
        self, slots: tuple[Slot, Slot], units: np.ndarray, threads: np.ndarray, time: int
    ) -> None:
        """Puts an access in the first slot, or in the second where the first must be kept."""
        one, two = slots
        held = one.thread[units]
        free = (held == NOBODY) | (held == threads)
        others = ~free
        if others.any():
            free[others] = self._same_block(held[others], threads[others]) & (
                one.time[units[others]] < self._met_at(threads[others])
            )
        one.put(units[free], threads[free], time)
        rest = one.thread[units] != threads
        if rest.any():
            two.put(units[rest], threads[rest], time)

    # Order

    def _settled(self, access: Access, last: int) -> bool:
        """True when no access since the last barrier of every block can matter."""
        return last == NOBODY or (access.array.space == "shared" and last < self.order.all_met)

    def _same_block(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.asarray(a // self.per_block == b // self.per_block)

    def _met_at(self, threads: np.ndarray) -> np.ndarray:
        """When the blocks of threads of this batch last met at a barrier."""
        blocks = threads // self.per_block
        order = np.argsort(self.lanes.blocks)
        return self.order.met[order[np.searchsorted(self.lanes.blocks, blocks, sorter=order)]]

    def _compare(
        self, access: Access, units: np.ndarray, slot: Slot, *, same_value: bool = False
    ) -> None:
        others = slot.thread[units]
        clash = (others != NOBODY) & (others != access.threads)
        if not clash.any():
            return
        times = slot.time[units]
        at = np.flatnonzero(clash)
        ordered, loose = self.order.before(others[at], times[at], access.mask.lanes[at])
        clash[at[ordered | loose]] = False
        if loose.any():
            weak = np.zeros_like(clash)
            weak[at[loose]] = True
            self._report(access, weak, others, times, loose=True)
        if clash.any():
            same = _same(access) if same_value else None
            self._report(access, clash, others, times, same)

    # Report

    def _report(
        self,
        access: Access,
        clash: np.ndarray,
        others: np.ndarray,
        times: np.ndarray,
        same_value: np.ndarray | None = None,
        loose: bool = False,
    ) -> None:
        for time in np.unique(times[clash]):
            here = clash & (times == time)
            line, kind = self.lines[time], self.kinds[time]
            at = int(np.flatnonzero(here)[0])
            facts = {
                "array": access.array.name,
                "space": access.array.space,
                "shape": access.array.shape,
                "cell": int(access.cells[at]),
                "access": access.kind,
                "thread": int(access.threads[at]),
                "other_access": kind,
                "other_thread": int(others[at]),
                "other_line": line,
                "loose": loose,
                "same_value": same_value is not None and bool(np.all(same_value[here])),
            }
            threads = np.unique(np.concatenate([access.threads[here], others[here]]))
            pair = (access.array.name, *sorted((access.line, line)), *sorted((access.kind, kind)))
            count = int(np.count_nonzero(here))
            severity = "advice" if loose else "error"
            if facts["same_value"]:
                severity = self.policy.same_value
            fault = Fault("race", access.line, threads, facts, count=count, severity=severity)
            self.faults.add(fault, (severity, *pair))


def _same(access: Access) -> np.ndarray:
    """Whether each lane writes what the cell already holds."""
    return np.asarray(access.array.flat[access.elements] == access.values)


def _agree(access: Access) -> np.ndarray:
    """Whether all lanes that write one cell in this access write the same value."""
    values = np.broadcast_to(access.values, access.elements.shape)
    order = np.argsort(access.elements, kind="stable")
    cells, sorted_values = access.elements[order], values[order]
    starts = np.concatenate(([True], np.diff(cells) != 0))
    first = np.maximum.accumulate(np.where(starts, np.arange(cells.size), 0))
    differs = sorted_values != sorted_values[first]
    return ~np.isin(access.elements, np.unique(cells[differs]))

"""Races: two threads, one cell, at least one write, not both atomic, and nothing that orders them.

For every cell of memory that a kernel may write to, a shadow remembers who wrote it, who updated it
atomically and who read it, and when; `Order` knows what is ordered before what is done now. A cell
is reported exactly when two accesses of this one run are a race, whatever order the lanes ran in:
`shadow` says why. Which release an acquire finds is what the run itself decides.
"""

from __future__ import annotations

import numpy as np

from simt.machine.faults import Fault, FaultLog
from simt.machine.lanes import WARP, Lanes, Mask
from simt.machine.memory import Array
from simt.machine.observer import Access, Observer, Setting
from simt.observe.decided import decided_lines
from simt.observe.order import Order, which_write
from simt.observe.shadow import NOBODY, History, Reads, Shadow, threads_in, times_in, units_of
from simt.vocabulary.whole_arrays import SEEN

_WATCHED = ("global", "shared")
MAX_PENDING = 64
MAX_KEPT = 1 << 24
"""Accesses kept one by one, where fences order: some 200 MB. Beyond it, advice says so."""


class Races(Observer):
    """Watches every access to memory a kernel may write to."""

    def __init__(self) -> None:
        self.shadows: dict[int, Shadow] = {}
        self.faults = FaultLog()
        self.time = 0
        self.touched = 0
        self.lines: list[int] = [0]
        self.kinds: list[str] = [""]

    def begin(self, setting: Setting) -> None:
        """Makes the shadows of global memory."""
        self.faults = setting.faults
        self.policy = setting.policy
        x, y, z = setting.block
        self.per_block = x * y * z
        self.code = setting.code
        names = setting.code.names
        fences = {name for name in names if name.startswith("cuda.threadfence")}
        self.order = Order(self.per_block, within_block="cuda.threadfence_block" in fences)
        self.whole = bool(fences) or setting.code.partial_warps
        self.warps = "cuda.syncwarp" in names and self.per_block > WARP
        self.by_bytes = SEEN in names
        for array in setting.arrays.values():
            allocation = array.allocation
            if allocation.number in setting.stored and allocation.number not in self.shadows:
                same = [a for a in setting.arrays.values() if a.allocation is allocation]
                sharing = [part for a in same for part in (a.fields.values() or [a])]
                unit = min(a.dtype.itemsize for a in sharing)
                apart = any((a.address - allocation.address) % unit for a in sharing)
                if apart or self.by_bytes:
                    unit = 1
                self._watch(allocation.number, unit, allocation.size)

    def _watch(self, number: int, unit: int, size: int) -> None:
        """Makes the shadow of some memory."""
        levels = ["thread"] if self.per_block > 1 or number >= 0 else []
        levels += ["warp"] if self.warps else []
        levels += ["block"] if number >= 0 else []
        self.shadows[number] = Shadow(
            unit, -(-size // unit), self.per_block, tuple(levels), whole=self.whole
        )

    def batch(self, lanes: Lanes) -> None:
        """Nothing orders blocks, so shadows of global memory live on from batch to batch."""
        self.lanes = lanes
        self.order.batch(lanes)
        for number in [n for n in self.shadows if n < 0]:
            del self.shadows[number]

    def barrier(self, line: int, mask: Mask, blocks: np.ndarray) -> None:
        """Orders what a block did before against what it does from now on."""
        self.order.barrier(self._tick(line, "barrier"), blocks)
        for number, shadow in self.shadows.items():
            if number >= 0:
                continue
            if self.order.all_met == self.time:
                shadow.forget()
            else:
                shadow.forget_reads_of(blocks, self._slots_of)

    def grid_barrier(self, line: int) -> None:
        """Orders what all blocks did before against what they do from now on."""
        self.order.grid_barrier(self._tick(line, "barrier"))
        for shadow in self.shadows.values():
            shadow.forget()

    def warp_barrier(self, line: int, mask: Mask) -> None:
        """Orders what lanes of one warp did before against what they do from now on."""
        self.order.warp_barrier(self._tick(line, "barrier"), mask)

    def fence(self, line: int, mask: Mask, *, within_block: bool = False) -> None:
        """Lets the next atomic tell others what was done before."""
        self.order.fence(self._tick(line, "fence"), mask, within_block=within_block)

    def _tick(self, line: int, kind: str) -> int:
        self.time += 1
        self.lines.append(line)
        self.kinds.append(kind)
        return self.time

    def access(self, access: Access) -> None:
        """Compares one access with everything before it."""
        array = access.array
        if array.space not in _WATCHED:
            return
        shadow = self.shadows.get(array.allocation.number)
        if shadow is None:
            if array.space != "shared":
                return
            shadow = self._watch_shared(array)
        self._tick(access.line, access.kind)
        since = self._since(access)
        width = array.dtype.itemsize // shadow.unit_bytes
        first = (array.address - array.allocation.address) // shadow.unit_bytes
        self.touched += width * access.mask.count
        wrote = which_write(access) if access.kind == "atomic" else None
        for part in range(first, first + width):
            if access.kind == "load":
                self._read(shadow, Reads(self.time, access, part, width), since)
            elif access.kind == "store":
                self._write(shadow, access, part, width, since)
            else:
                self._update(shadow, access, part, width, since, wrote)
        if access.kind == "atomic":
            self.order.update(access, wrote)

    def _since(self, access: Access) -> int:
        """Whatever was done to shared memory before its blocks last met lies before what is now."""
        if access.array.space != "shared":
            return 1
        if self.order.all_met == self.order.last_met:
            return max(1, self.order.all_met)
        return max(1, int(self.order.met[self._slots_of(access)].min()))

    def _slots_of(self, access: Access) -> np.ndarray:
        """int64, the places within the batch of the blocks that take part, each once."""
        return access.counted("blocks", 1, self._find_slots)

    def _find_slots(self, access: Access) -> np.ndarray:
        slots = self.lanes.slot[access.mask.lanes]
        return slots[np.flatnonzero(np.diff(slots, prepend=-1))]

    def _watch_shared(self, array: Array) -> Shadow:
        # Dynamic memory may be seen through several dtypes, as any memory is by `view`, and a
        # structure has fields of several sizes: they are watched byte by byte.
        plain = array.static and array.strides[-1] == 1 and not self.by_bytes
        unit = array.dtype.itemsize if plain else 1
        number = array.allocation.number
        self._watch(number, unit, array.allocation.size * len(self.lanes.blocks))
        return self.shadows[number]

    def _read(self, shadow: Shadow, reads: Reads, since: int) -> None:
        """A load of some units, and what it meets of what was written since a time."""
        against = [h for h in (shadow.writers, shadow.updaters) if h.last >= since]
        if against:
            self._compare(shadow, reads.access, reads.units, against)
        shadow.read_later(reads, MAX_PENDING)

    def _write(self, shadow: Shadow, access: Access, first: int, width: int, since: int) -> None:
        """A store to some units, and what it meets since a time."""
        shadow.enter_reads()
        against = [h for h in shadow.histories() if h.last >= since]
        self._compare(shadow, access, units_of(access, first, width), against)
        kept = shadow.writers.enter(access, first, width, self.time)
        if kept is not None:
            others = threads_in(kept)
            clash = (others != access.threads).nonzero()[0]
            if clash.size:
                times = np.full(clash.size, self.time)
                self._report(access, clash, others[clash], times, _agree(access)[clash])
        if self.whole:
            self._bound(access)

    def _update(
        self,
        shadow: Shadow,
        access: Access,
        first: int,
        width: int,
        since: int,
        wrote: np.ndarray | None,
    ) -> None:
        """An atomic of some units, and what it meets; `wrote`: bool (n,), None for all lanes."""
        shadow.enter_reads()
        units = units_of(access, first, width)
        if shadow.writers.last >= since:
            self._compare(shadow, access, units, [shadow.writers])
        if shadow.readers.last >= since:
            self._compare(shadow, access, units, [shadow.readers], wrote)
        turns = access.turns
        if wrote is not None:
            failed, turns = turns[~wrote[turns]], turns[wrote[turns]]
            if failed.size:
                shadow.probers.enter(access, first, width, self.time, failed)
        if turns.size:
            shadow.updaters.enter(access, first, width, self.time, turns)
        if self.whole:
            self._bound(access)

    def _compare(
        self,
        shadow: Shadow,
        access: Access,
        units: np.ndarray,
        against: list[History],
        only: np.ndarray | None = None,
    ) -> None:
        """Compares an access, or `only` (bool) some of its lanes, with those of other kinds."""
        for history in against:
            same = access.kind == "store" and history is shadow.writers
            racing = np.zeros(units.size, bool)
            entries = history.slots.entries(units)
            there = (entries != NOBODY) & (threads_in(entries) != access.threads)
            if only is not None:
                there &= only
            seen = history is shadow.updaters and np.count_nonzero(there) > 0
            if seen and self._decided(access):
                there &= self._unseen(access, entries)
            else:
                seen = False
            pairs = there.nonzero()
            if pairs[0].size and not self._all_ordered(access, pairs[1], entries[pairs]):
                for slot, kept in enumerate(entries):
                    at = pairs[1][pairs[0] == slot]
                    others, times = threads_in(kept[at]), times_in(kept[at])
                    racing[at[self._judge(access, at, others, times, same=same)]] = True
            if history.sets is not None and not seen:
                left = ~racing if only is None else only & ~racing
                self._search(access, units, history, left, same=same)

    def _decided(self, access: Access) -> bool:
        """Whether its lanes are at this line because of what an atomic has found."""
        return (access.kernel.file, access.line) in decided_lines(self.code)

    def _unseen(self, access: Access, entries: np.ndarray) -> np.ndarray:
        """Returns bool (slots, n), the updates that none has seen which lies before an access.

        An update has seen all those of its cell before it, so what comes after it comes after them,
        with no fence at all (PTX ISA, causality order: observation, then what follows). The latest
        of all decides whether there is a race; so a few for each cell are enough here. What a
        compare-and-swap that fails has seen is left out of account.
        """
        slots, at = np.nonzero(entries != NOBODY)
        others, times = threads_in(entries[slots, at]), times_in(entries[slots, at])
        before, _ = self.order.before(others, times, access.mask.lanes[at])
        before |= others == access.threads[at]
        seen = np.zeros(entries.shape, np.int64)
        seen[slots[before], at[before]] = times[before]
        unseen = times_in(entries) > seen.max(axis=0)
        unseen[0] |= seen[0] == 0  # it may be of the same time as one before it in turn
        return np.asarray(unseen)

    def _all_ordered(self, access: Access, at: np.ndarray, entries: np.ndarray) -> bool:
        """Whether what some lanes touch was all done before; as a rule it is."""
        lanes = access.mask.lanes[at]
        ordered, _ = self.order.before(threads_in(entries), times_in(entries), lanes)
        return bool(np.count_nonzero(ordered) == ordered.size)

    def _search(
        self, access: Access, units: np.ndarray, history: History, left: np.ndarray, *, same: bool
    ) -> None:
        """Compares lanes that have learned of any set of threads with all that a unit has seen."""
        lanes = access.mask.lanes
        open_ = left & history.slots.crowded(units)
        if not np.count_nonzero(open_):
            return
        at = np.flatnonzero(open_ & self.order.informed(lanes))
        if not at.size:
            return
        assert history.sets is not None
        # Of other blocks, lanes that have learned the same know the same: one of them is enough.
        alike = np.stack([units[at], self.order.company_of(lanes[at])])
        far = at[np.unique(alike, axis=1, return_index=True)[1]]
        own = access.threads[at] // self.per_block * self.per_block
        everybody = history.sets.find(units[far], 0, self.lanes.grid_threads)
        near = history.sets.find(units[at], own, own + self.per_block)
        for lanes_asked, found in ((far, everybody), (at, near)):
            for which, others, times in found:
                part = lanes_asked[which]
                other = others != access.threads[part]
                if other.any():
                    self._judge(access, part[other], others[other], times[other], same=same)

    def _judge(
        self,
        access: Access,
        at: np.ndarray,
        others: np.ndarray,
        times: np.ndarray,
        *,
        same: bool,
    ) -> np.ndarray:
        """Reports the pairs that nothing orders; which of them are errors.

        Args:
            access: the access.
            at: int64 (n,), which of its lanes.
            others, times: int64 (n,), who touched the same unit, and when.
            same: whether all of them are stores.
        """
        ordered, loose = self.order.before(others, times, access.mask.lanes[at])
        if np.count_nonzero(loose):
            self._report(access, at[loose], others[loose], times[loose], loose=True)
        clash = ~(ordered | loose)
        if np.count_nonzero(clash):
            value = _same(access, at[clash]) if same else None
            self._report(access, at[clash], others[clash], times[clash], value)
        return clash

    def _bound(self, access: Access) -> None:
        """Gives up keeping every access where there are too many, and says so."""
        if self.touched <= MAX_KEPT:
            return  # nor can more be kept
        histories = [h for shadow in self.shadows.values() for h in shadow.histories()]
        if sum(h.sets.size for h in histories if h.sets is not None) <= MAX_KEPT:
            return
        self.whole = False
        for history in histories:
            history.sets = None
        facts = {
            "incomplete": MAX_KEPT,
            "array": access.array.name,
            "shape": access.array.shape,
            "access": access.kind,
            "loose": False,
            "same_value": False,
        }
        fault = Fault(
            "race", access.line, access.threads[:1], facts, severity="advice", kernel=access.kernel
        )
        self.faults.add(fault, ("incomplete",))

    # Report

    def _report(
        self,
        access: Access,
        lanes: np.ndarray,
        others: np.ndarray,
        times: np.ndarray,
        same_value: np.ndarray | None = None,
        loose: bool = False,
    ) -> None:
        """Reports pairs (n,): a place among the access's lanes, another thread, and its time."""
        for time in np.unique(times):
            here = times == time
            line, kind = self.lines[time], self.kinds[time]
            at, other = int(lanes[here][0]), int(others[here][0])
            facts = {
                "array": access.array.name,
                "space": access.array.space,
                "shape": access.array.shape,
                "cell": int(access.cells[at]),
                "access": access.kind,
                "thread": int(access.threads[at]),
                "other_access": kind,
                "other_thread": other,
                "other_line": line,
                "loose": loose,
                "same_value": same_value is not None and bool(np.all(same_value[here])),
                "at_once": bool(time == self.time),
            }
            threads = np.unique(np.concatenate([access.threads[lanes[here]], others[here]]))
            pair = (access.array.name, *sorted((access.line, line)), *sorted((access.kind, kind)))
            count = int(np.count_nonzero(here))
            severity = self.policy.unfenced if loose else "error"
            if facts["same_value"]:
                severity = self.policy.same_value
            fault = Fault(
                "race",
                access.line,
                threads,
                facts,
                count=count,
                severity=severity,
                kernel=access.kernel,
                cells=np.unique(access.cells[lanes[here]])[: self.faults.MAX_CELLS],
                caller=access.caller,
            )
            self.faults.add(fault, (severity, *pair))


def _same(access: Access, lanes: np.ndarray) -> np.ndarray:
    """Whether some of its lanes write what the cell already holds."""
    values = np.broadcast_to(access.values, access.elements.shape)
    return np.asarray(access.array.flat[access.elements[lanes]] == values[lanes])


def _agree(access: Access) -> np.ndarray:
    """Whether all lanes that write one cell in this access write the same value."""
    values = np.broadcast_to(access.values, access.elements.shape)
    order = np.argsort(access.elements, kind="stable")
    cells, sorted_values = access.elements[order], values[order]
    starts = np.concatenate(([True], np.diff(cells) != 0))
    first = np.maximum.accumulate(np.where(starts, np.arange(cells.size), 0))
    differs = sorted_values != sorted_values[first]
    return ~np.isin(access.elements, np.unique(cells[differs]))

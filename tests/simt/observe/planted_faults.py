"""Faults to plant in the race detector: each takes away or bends one thing that it rests on.

A fault is what to put in the place of which attributes, and is planted while one detector works:
others in the same launch are left whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from simt.machine.observer import Access
from simt.observe import order, races, shadow
from simt.observe.known import Known, known_until
from simt.observe.order import Fenced, Learned, Log, Order
from simt.observe.races import Races
from simt.observe.shadow import Sets, Shadow, Slots

Fault = list[tuple[Any, str, Any]]
"""Owner, attribute, and what stands there instead."""


@contextmanager
def planted(fault: Fault) -> Iterator[None]:
    """Has a fault in the detector."""
    right = [(owner, name, getattr(owner, name)) for owner, name, _ in fault]
    for owner, name, wrong in fault:
        setattr(owner, name, wrong)
    try:
        yield
    finally:
        for owner, name, method in right:
            setattr(owner, name, method)


def _nothing(*_: Any, **__: Any) -> None:
    """In the place of a method: nothing is done."""


def _always(answer: Any) -> Callable[..., Any]:
    return lambda *_, **__: answer


def _bend(owner: Any, name: str, bent: Callable[..., Any]) -> Fault:
    """A method that is handed the right one first, and may use it."""
    right = getattr(owner, name)
    return [(owner, name, lambda *given, **more: bent(right, *given, **more))]


def _without_slot(level: str) -> Fault:
    def begin(
        right: Any, slots: Slots, units: int, per_block: int, levels: tuple[str, ...]
    ) -> None:
        right(slots, units, per_block, tuple(each for each in levels if each != level))

    return _bend(Slots, "__init__", begin)


def _after(owner: Any, name: str, undo: Callable[[Any], None]) -> Fault:
    """A method after which something of its object is undone."""

    def bent(right: Any, self: Any, *given: Any, **more: Any) -> Any:
        answer = right(self, *given, **more)
        undo(self)
        return answer

    return _bend(owner, name, bent)


KINDS = ("load", "store", "atomic", "probe")


def _only(kinds: set[tuple[str, str]]) -> Fault:
    """Leaves out comparisons of an access of the first kind with the accesses of the second."""

    def compare(
        right: Any, self: Races, shadow: Shadow, access: Any, units: Any, against: Any, *more: Any
    ) -> None:
        names = dict(zip(map(id, shadow.histories()), KINDS, strict=True))
        kept = [h for h in against if (access.kind, names[id(h)]) not in kinds]
        right(self, shadow, access, units, kept, *more)

    return _bend(Races, "_compare", compare)


def _whole_warps_only(right: Any, self: Races, setting: Any) -> None:
    right(self, replace(setting, code=replace(setting.code, partial_warps=False)))


def _every_block(right: Any, self: Order, time: int, blocks: np.ndarray) -> None:
    right(self, time, np.ones_like(blocks))


def _whole_block(right: Any, self: Order, time: int, mask: Any) -> None:
    right(self, time, mask)
    self.met[np.unique(self.lanes.slot[mask.lanes])] = time


def _narrow_as_wide(right: Any, self: Order, time: int, mask: Any, **_: Any) -> None:
    right(self, time, mask)


def _keeping(bent: Callable[[Fenced, int, Known], Known]) -> Fault:
    """What a lane passes on, bent."""
    return _bend(Fenced, "tell", lambda right, self, lane: bent(self, lane, right(self, lane)))


def _itself_only(self: Fenced, lane: int, told: Known) -> Known:
    thread = int(self.lanes.global_thread[lane])
    until = self.until[lane : lane + 1]
    return known_until(np.array([thread]), until, 0, 0)


def _tells_nothing_learned(right: Any, self: Fenced, lane: int) -> Known:
    kept = self.known, self.block_known
    self.known, self.block_known = defaultdict(dict), {}
    told = right(self, lane)
    self.known, self.block_known = kept
    return told


def _tells_the_present(right: Any, self: Fenced, lane: int) -> Known:
    """As if the fence stood right before the atomic."""
    kept = self.until[lane]
    self.until[lane] = 1 << 30
    told = right(self, lane)
    self.until[lane] = kept
    return told


def _last_release_only(self: Log, thread: int, since: int, known: Known) -> None:
    self._told[thread] = since
    self.known = known


def _first_release_only(right: Any, self: Log, *given: Any) -> None:
    if not self.known:
        right(self, *given)


def _alone(right: Any, self: Order, *given: Any, **more: Any) -> None:
    kept, self.any_warp_met = self.any_warp_met, False
    right(self, *given, **more)
    self.any_warp_met = kept


def _fences(right: Any, self: Fenced, time: int, slots: np.ndarray) -> None:
    """As if each thread that had fenced did so once more."""
    lanes = np.flatnonzero(np.isin(self.lanes.slot, slots) & (self.until > 0))
    self.until[lanes] = self.since[lanes] = time
    right(self, time, slots)


def _relays_all(right: Any, self: Order, lane: int, learned: Learned, time: int) -> None:
    right(self, lane, learned._replace(relayed=learned.near), time)


def _none_unseen(right: Any, self: Races, access: Any, entries: np.ndarray) -> np.ndarray:
    return np.zeros(entries.shape, bool)


def _any_fence_is_enough(right: Any, self: Learned, *, within_block: bool) -> Learned:
    return right(self, within_block=False)


def _learns_firmly(right: Any, self: Order, thread: int, cell: Any, block: int) -> None:
    right(self, thread, cell, block)
    learned = self.by_thread[block].get(thread)
    if learned is not None:
        self.by_thread[block][thread] = learned.fenced(within_block=False)


def _one_log_for_all(right: Any, self: Order, thread: int, cell: Any, block: int) -> None:
    """An atomic learns what was told in any cell."""
    for each in [each for each in self.logs if len(each) == 2]:
        right(self, thread, each, block)


def _alive_for_ever(right: Any, self: Order, lanes: Any) -> None:
    logs = self.logs
    right(self, lanes)
    self.logs = logs


def _all_shared(right: Any, self: Races, *given: Any) -> None:
    right(self, *given)
    for number, each in self.shadows.items():
        if number < 0:
            each.forget()
            for history in each.histories():
                history.last = 0


def _everything(right: Any, self: Races, *given: Any) -> None:
    right(self, *given)
    for each in self.shadows.values():
        each.pending.clear()


def _settled(right: Any, self: Races, access: Access) -> int:
    return max(1, self.order.all_met)


def _earliest(keys: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    sorted_ = np.lexsort((times, keys))
    keys, at = np.unique(keys[sorted_], return_index=True)
    return keys, times[sorted_][at]


def _one_run(right: Any, self: Sets, *given: Any) -> None:
    right(self, *given)
    del self.runs[:-1]


def _own_block_only(right: Any, self: Sets, units: Any, low: Any, high: Any) -> Any:
    return iter(()) if isinstance(low, int) else right(self, units, low, high)


def _other_blocks_only(right: Any, self: Sets, units: Any, low: Any, high: Any) -> Any:
    return right(self, units, low, high) if isinstance(low, int) else iter(())


def _by_block(self: Order, lanes: np.ndarray) -> np.ndarray:
    return -1 - self.lanes.global_thread[lanes] // self.per_block


def _forget_by_thread(self: Order) -> None:
    self.by_thread.clear()


def _forget_by_block(self: Order) -> None:
    self.by_block.clear()


FAULTS: dict[str, Fault] = {
    # What is remembered where barriers order.
    "no slot for another thread": _without_slot("thread"),
    "no slot for another warp": _without_slot("warp"),
    "no slot for another block": _without_slot("block"),
    "slots keep nothing but the latest": [(Slots, "_displace", _nothing)],
    # Barriers.
    "barriers order nothing": [(Order, "barrier", _nothing)],
    "warp barriers order nothing": [(Order, "warp_barrier", _nothing)],
    "partial warp barriers order nothing": [(Order, "_part_met", _nothing)],
    "grid barriers order nothing": [
        (Order, "grid_barrier", _nothing),
        (Shadow, "forget", _nothing),
    ],
    "a barrier is one of every block": _bend(Order, "barrier", _every_block),
    "a barrier of a block settles the shared memory of all": _bend(Races, "barrier", _all_shared),
    "a barrier of a block settles loads of global memory": _bend(Races, "barrier", _everything),
    "a barrier of every block settles global memory": _bend(Races, "_since", _settled),
    "a warp barrier is one of the block": _bend(Order, "warp_barrier", _whole_block),
    "a partial warp barrier is one of the warp": [(order, "_whole_warps", _always(True))],
    # Knowledge that barriers hand on.
    "a barrier does not tell what atomics told": _after(Order, "barrier", _forget_by_block),
    "a warp barrier does not tell what atomics told": [(Order, "_share", _nothing)],
    # Release and acquire.
    "fences do nothing": [(Order, "fence", _nothing)],
    "fences release nothing": [(Order, "_tell", _nothing)],
    "fences make nothing firm": [(Order, "_make_firm", _nothing)],
    "an atomic learns nothing": [(Order, "_learn", _nothing)],
    "an atomic needs no fence after it": _bend(Order, "_learn", _learns_firmly),
    "an atomic needs no fence right before it": _bend(Fenced, "tell", _tells_the_present),
    "an atomic learns what other cells were told": _bend(Order, "_learn", _one_log_for_all),
    "a fence of the block is one of the device": _bend(Order, "fence", _narrow_as_wide),
    "a fence of the block makes all firm": _bend(Learned, "fenced", _any_fence_is_enough),
    "a failed compare-and-swap releases": [(races, "which_write", _always(None))],
    "a release tells of its own thread only": _keeping(_itself_only),
    "a release does not tell of its block": _keeping(lambda self, lane, told: Known(told.threads)),
    "a release does not tell of its warp": _bend(Order, "fence", _alone),
    "a release does not tell what it learned": _bend(Fenced, "tell", _tells_nothing_learned),
    # What others have fenced.
    "a barrier passes on no fence": [(Fenced, "barrier", _nothing)],
    "a warp barrier passes on no fence": [(Fenced, "warp_barrier", _nothing)],
    "a barrier fences": _bend(Fenced, "barrier", _fences),
    "a barrier passes on nothing learned": _after(
        Fenced, "barrier", lambda self: self.block_known.clear()
    ),
    "a fence of the block relays nothing": [(Order, "_relay", _nothing)],
    "a fence of the block relays all it hears": _bend(Order, "_relay", _relays_all),
    "what was passed on counts after a fence of one's own only": _bend(
        Fenced, "told_since", lambda right, self, lane: int(self.since[lane])
    ),
    # What atomics have seen.
    "an atomic has seen nothing": [(Races, "_decided", _always(False))],
    "each line is decided by an atomic": [(Races, "_decided", _always(True))],
    "any update has seen all": _bend(Races, "_unseen", _none_unseen),
    "a flag remembers the last release only": [(Log, "tell", _last_release_only)],
    "a flag remembers the first release only": _bend(Log, "tell", _first_release_only),
    "flags in shared memory outlive their block": _bend(Order, "batch", _alive_for_ever),
    # What is remembered where knowledge goes astray.
    "no partial warp barriers are expected": _bend(Races, "begin", _whole_warps_only),
    "sets are never searched": [(Races, "_search", _nothing)],
    "sets are searched by nobody": [(Order, "informed", lambda self, lanes: lanes < 0)],
    "one thread is enough for units": [(Slots, "crowded", lambda self, units: units < 0)],
    "sets keep each thread's first access": [(shadow, "_latest", _earliest)],
    "sets lose their older runs": _bend(Sets, "_push", _one_run),
    "sets are searched in the own block only": _bend(Sets, "find", _own_block_only),
    "sets are searched in other blocks only": _bend(Sets, "find", _other_blocks_only),
    "a block's threads know the same of others": [(Order, "company_of", _by_block)],
    # What is compared with what.
    "a load is not compared with stores": _only({("load", "store")}),
    "a load is not compared with atomics": _only({("load", "atomic")}),
    "a store is not compared with loads": _only({("store", "load")}),
    "a store is not compared with stores": _only({("store", "store")}),
    "a store is not compared with atomics": _only({("store", "atomic")}),
    "a store is not compared with what failed": _only({("store", "probe")}),
    "an atomic is not compared with loads": _only({("atomic", "load")}),
    "an atomic is not compared with stores": _only({("atomic", "store")}),
    "loads that wait are lost": [(Shadow, "enter_reads", lambda self: self.pending.clear())],
}

"""Barriers where warps or threads take turns: who must come, who has come, and what they get.

Each arrives with its own lanes and its own arguments. When all that must be there have come, their
values are put together and the one function that lockstep uses as well is run over them, so values,
hazards and counts are the same; then each takes its lanes of the result. The lanes of a warp that
run as threads meet in the same way at shuffles and votes.

They meet when all that must be there are there. They also meet, with some missing, when everybody
they could wait for has ended or stands at another barrier. A hazard then says so, and the launch
goes on as it does in lockstep: with the barrier that comes first in the kernel.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simt.kernel.ir import Call
from simt.kernel.source import Kernel
from simt.machine.faults import Fault, Policy
from simt.machine.lanes import WARP, Lanes, Mask
from simt.machine.observer import Observer, Setting
from simt.machine.schedule import Task
from simt.machine.values import Value
from simt.machine.warp import WarpAudience, WarpLanes
from simt.vocabulary import synchronise, warps

ALONE = frozenset(("cuda.activemask", "cuda.lanemask_lt"))
OF_WARP = (frozenset(warps.FUNCTIONS) | {"cuda.syncwarp"}) - ALONE
OF_BLOCK = frozenset(n for n in synchronise.FUNCTIONS if n.startswith("cuda.syncthreads"))


@dataclass(eq=False)
class Arrival:
    """A warp or thread that has come to a barrier, or to what a warp does together.

    Attributes:
        task: who has come.
        scope: "warp", "block" or "grid".
        call: the call it came to.
        place: the lines that led there, the kernel's own first.
        window: its warp.
        mask: which of the warp's lanes have come.
        arguments: the call's.
        kernel: the kernel or device function that holds the call.
        caller: where that is in another file, the kernel's own line that led there; else "".
        returned: bool (32,), which of the warp's lanes have returned from the kernel.
        result: what the call gives it, once all have met.
    """

    task: Task
    scope: str
    call: Call
    place: tuple[int, ...]
    window: WarpLanes
    mask: Mask
    arguments: Sequence[Value]
    kernel: Kernel
    caller: str
    returned: np.ndarray
    result: Value = None

    def named(self) -> int:
        """The lanes that a warp operation's mask names, as bits: all of them where it has none."""
        bits = 0
        masks = self.arguments[0] if self.arguments else np.int64(-1)
        for mask in np.broadcast_to(masks, WARP)[self.mask.lanes].tolist():
            bits |= int(mask) & 0xFFFFFFFF
        return bits


def _complete(arrivals: Sequence[Arrival], live: int) -> list[Arrival]:
    """Returns the largest part of arrivals at one warp operation that waits for nobody else.

    Args:
        arrivals: of one warp, at one call.
        live: the lanes of the warp that have not ended, as bits.
    """
    left = list(arrivals)
    while left:
        here = sum(_bits(a.mask) for a in left)
        kept = [a for a in left if not a.named() & live & ~here]
        if len(kept) == len(left):
            return left
        left = kept
    return []


@dataclass
class _Met:
    """Those that have met, as the call they stand at sees them."""

    lanes: Lanes
    mask: Mask
    audience: Observer
    setting: Setting
    returned: np.ndarray
    kernel: Kernel
    caller: str

    @property
    def policy(self) -> Policy:
        return self.setting.policy

    def fault(self, fault: Fault, key: tuple[Any, ...] = ()) -> None:
        fault.kernel, fault.caller = self.kernel, self.caller
        self.setting.faults.add(fault, key)


def _hold(
    arrivals: Sequence[Arrival],
    batch: Lanes,
    audience: Observer,
    returned: np.ndarray,
    setting: Setting,
) -> list[Value]:
    """Lets those meet who stand at one call; returns what each gets.

    Args:
        arrivals: all at the same call.
        batch: the lanes of the whole grid.
        audience: of the batch.
        returned: bool (lanes of the batch,), those that have returned from the kernel.
        setting: the launch.
    """
    first = arrivals[0]
    lanes, offset = batch, 0
    told = audience
    if first.scope == "warp":
        offset = first.window.first
        within = np.arange(offset, offset + WARP) % batch.lanes_per_block
        lanes = WarpLanes(batch, offset, within < batch.threads_per_block)
        told = WarpAudience(audience, lanes)
        returned = returned[lanes.span]
    active = np.zeros(lanes.count, bool)
    spans = [slice(a.window.first - offset, a.window.first - offset + WARP) for a in arrivals]
    for arrival, span in zip(arrivals, spans, strict=True):
        active[span] |= arrival.mask.active
    together_here = lanes.alive if active.sum() == lanes.alive.count else Mask(active)
    machine: Any = _Met(lanes, together_here, told, setting, returned, first.kernel, first.caller)
    together = zip(*(a.arguments for a in arrivals), strict=True)
    arguments = [_gathered(values, arrivals, spans, lanes.count) for values in together]
    result = first.call.function.run(machine, first.call, arguments, first.call.type)
    return [_part(result, span) for span in spans]


def _gathered(
    values: Sequence[Value], arrivals: Sequence[Arrival], spans: Sequence[slice], count: int
) -> Value:
    """One value over all lanes from those of the arrivals; a number they agree on stays one."""
    one = values[0]
    if all(not isinstance(v, np.ndarray) and v.tobytes() == one.tobytes() for v in values):
        return one
    whole = np.zeros(count, one.dtype)
    for value, arrival, span in zip(values, arrivals, spans, strict=True):
        active = arrival.mask.active
        whole[span][active] = value[active] if isinstance(value, np.ndarray) else value
    return whole


def _part(result: Value, span: slice) -> Value:
    if isinstance(result, tuple):
        return tuple(_part(r, span) for r in result)
    return result[span] if isinstance(result, np.ndarray) else result


class Barriers:
    """Keeps count of who is on the way to a barrier of a launch.

    Args:
        tasks: all warps or threads of the launch, and the lanes of each.
        lanes: all its lanes.
        audience: told of those that meet.
        setting: the launch.
    """

    def __init__(
        self,
        tasks: Iterable[tuple[Task, WarpLanes]],
        lanes: Lanes,
        audience: Observer,
        setting: Setting,
    ) -> None:
        self.lanes = lanes
        self.audience = audience
        self.setting = setting
        self.returned = np.zeros(lanes.count, bool)
        self.standing: dict[int, Arrival] = {}
        self._live = 0
        self._live_in_block: Counter[int] = Counter()
        self._live_in_warp: dict[int, int] = defaultdict(int)
        for task, window in tasks:
            self._live += 1
            self._live_in_block[task.block] += 1
            self._live_in_warp[window.first] |= _bits(window.alive)

    def arrive(self, arrival: Arrival) -> list[Arrival]:
        """Somebody has come; returns those who have met by that."""
        self.standing[arrival.task.number] = arrival
        self.returned[arrival.window.span] |= arrival.returned
        return self._settle(arrival.task, arrival.window)

    def end(self, task: Task, window: WarpLanes, returned: np.ndarray) -> list[Arrival]:
        """A warp or thread has ended; returns those who have met by that."""
        self._live -= 1
        self._live_in_block[task.block] -= 1
        self._live_in_warp[window.first] &= ~_bits(window.alive)
        self.returned[window.span] |= returned
        return self._settle(task, window)

    def _settle(self, task: Task, window: WarpLanes) -> list[Arrival]:
        return (
            self._settle_warp(window.first) or self._settle_block(task.block) or self._settle_grid()
        )

    def _settle_warp(self, first: int) -> list[Arrival]:
        standing = [a for a in self.standing.values() if a.window.first == first]
        arrived = _at("warp", standing)
        live = self._live_in_warp[first]
        for group in arrived:
            ready = _complete(group, live)
            if ready:
                return self._meet(ready)
        if arrived and sum(_bits(a.window.alive) for a in standing) == live:
            return self._meet(arrived[0])
        return []

    def _settle_block(self, block: int) -> list[Arrival]:
        standing = [a for a in self.standing.values() if a.task.block == block]
        arrived = _at("block", standing)
        if arrived and len(standing) == self._live_in_block[block]:
            return self._meet(arrived[0])
        return []

    def _settle_grid(self) -> list[Arrival]:
        arrived = _at("grid", list(self.standing.values()))
        if arrived and sum(map(len, arrived)) == self._live:
            return self._meet(arrived[0])
        return []

    def _meet(self, arrivals: list[Arrival]) -> list[Arrival]:
        """Lets those meet that stand at one call; each gets its part and can go on."""
        results = _hold(arrivals, self.lanes, self.audience, self.returned, self.setting)
        for arrival, result in zip(arrivals, results, strict=True):
            arrival.result = result
            del self.standing[arrival.task.number]
        return arrivals


def _bits(mask: Mask) -> int:
    """The lanes of a mask over one warp, as bits."""
    return sum(1 << lane for lane in mask.lanes.tolist())


def _at(scope: str, standing: list[Arrival]) -> list[list[Arrival]]:
    """Those at each call of a scope, the call that comes first in the kernel first."""
    groups: dict[tuple[str, int, int], list[Arrival]] = defaultdict(list)
    for arrival in standing:
        if arrival.scope == scope:
            place = arrival.kernel.file, arrival.call.line, arrival.call.column
            groups[place].append(arrival)
    return sorted(groups.values(), key=lambda group: min(a.place for a in group))

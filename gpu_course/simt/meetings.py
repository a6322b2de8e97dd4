"""Where strands meet: barriers of a block or the grid, and the lanes of a warp run as threads.

Each strand arrives with its own lanes and its own arguments. When all that must be there have come,
their values are put together and the one function that lockstep uses as well is run over them, so
values, hazards and counts are the same; then each strand takes its lanes of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.simt.faults import Fault, Policy
from gpu_course.simt.ir import Call
from gpu_course.simt.lanes import WARP, Lanes, Mask
from gpu_course.simt.observer import Observer, Setting
from gpu_course.simt.values import Value
from gpu_course.simt.vocabulary import synchronise, warps
from gpu_course.simt.window import Widened, Window

if TYPE_CHECKING:
    from gpu_course.simt.source import Kernel

ALONE = frozenset(("cuda.activemask", "cuda.lanemask_lt"))
WARP_MEETINGS = (frozenset(warps.FUNCTIONS) | {"cuda.syncwarp"}) - ALONE
GRID_MEETING = synchronise.GRID_BARRIER
BLOCK_MEETINGS = frozenset(n for n in synchronise.FUNCTIONS if n.startswith("cuda.syncthreads"))


@dataclass(eq=False)
class Arrival:
    """A strand that has come to a meeting.

    Attributes:
        scope: "warp", "block" or "grid".
        call: the call it came to.
        place: the lines that led there, the kernel's own first.
        window: its warp.
        mask: which of the warp's lanes have come.
        arguments: the call's.
        kernel: the kernel or device function that holds the call.
    """

    scope: str
    call: Call
    place: tuple[int, ...]
    window: Window
    mask: Mask
    arguments: Sequence[Value]
    kernel: Kernel

    def named(self) -> int:
        """The lanes that a warp operation's mask names, as bits: all of them where it has none."""
        bits = 0
        masks = self.arguments[0] if self.arguments else np.int64(-1)
        for mask in np.broadcast_to(masks, WARP)[self.mask.lanes].tolist():
            bits |= int(mask) & 0xFFFFFFFF
        return bits

    def bits(self) -> int:
        """The lanes that have come, as bits."""
        return sum(1 << lane for lane in self.mask.lanes.tolist())


def complete(arrivals: Sequence[Arrival], live: int) -> list[Arrival]:
    """Returns the largest part of arrivals at one warp operation that waits for nobody else.

    Args:
        arrivals: of one warp, at one call.
        live: the lanes of the warp that have not ended, as bits.
    """
    left = list(arrivals)
    while left:
        here = sum(a.bits() for a in left)
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
    observers: Sequence[Any]
    setting: Setting
    returned: np.ndarray
    kernel: Kernel

    @property
    def policy(self) -> Policy:
        return self.setting.policy

    def fault(self, fault: Fault, key: tuple[Any, ...] = ()) -> None:
        fault.kernel = self.kernel
        self.setting.faults.add(fault, key)


def hold(
    arrivals: Sequence[Arrival],
    batch: Lanes,
    observers: Sequence[Observer],
    returned: np.ndarray,
    setting: Setting,
) -> list[Value]:
    """Runs a meeting; returns what each arrival gets.

    Args:
        arrivals: all at the same call.
        batch: the lanes of the whole grid.
        observers: the batch's.
        returned: bool (lanes of the batch,), those that have returned from the kernel.
        setting: the launch.
    """
    first = arrivals[0]
    lanes, offset = batch, 0
    told: Sequence[Any] = observers
    if first.scope == "warp":
        offset = first.window.first
        within = np.arange(offset, offset + WARP) % batch.lanes_per_block
        lanes = Window(batch, offset, within < batch.threads_per_block)
        told = [Widened(observers, lanes)]
        returned = returned[lanes.span]
    active = np.zeros(lanes.count, bool)
    spans = [slice(a.window.first - offset, a.window.first - offset + WARP) for a in arrivals]
    for arrival, span in zip(arrivals, spans, strict=True):
        active[span] |= arrival.mask.active
    together_here = lanes.alive if active.sum() == lanes.alive.count else Mask(active)
    machine: Any = _Met(lanes, together_here, told, setting, returned, first.kernel)
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

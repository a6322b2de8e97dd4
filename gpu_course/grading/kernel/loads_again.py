"""Which loads of an answer bring what has been loaded already: those, and no others, can go."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from gpu_course.grading.kernel.trial import Trial
from gpu_course.puzzle import Launch
from simt.report import WARP, Report, Touch

COUNTERS = ("global_load.bytes", "global_load.requests")
"""The counters of which a load that is spared takes something away."""

MARGIN = 1 / 8
"""A limit may have some room: by so much may a second load be more than what goes beyond it."""


@dataclass(frozen=True)
class Again:
    """What a line loads of an array though it has been loaded before.

    Attributes:
        function, line: of the kernel.
        array: its name there.
        before: the line that has loaded most of it before; the line itself where it loads twice,
            is in a loop, or other threads of the block do the same.
        by_thread: True where the same thread has had it; else another of its block.
        cost: bytes or requests, as they are counted.
    """

    function: str
    line: int
    array: str
    before: int
    by_thread: bool
    cost: int

    def text(self, place: str) -> str:
        """Returns how much it is, where, and who has had it before."""
        who = "its thread" if self.by_thread else "its block"
        where = "on this line" if self.before == self.line else f"in line {self.before}"
        had = f"{who} has loaded these cells of {self.array} {where} already"
        return f"{self.cost:,} in {place}: {had}"


def loads_again(tried: Trial, counter: str, excess: int, function: str = "") -> list[Again]:
    """Returns the loads that can be spared, the largest first; none where they explain too little.

    A thread that has loaded a cell can keep it, and a block can share it. Where all of a thread's
    second loads together are as much as there is too much, these are what is told; else all second
    loads of the blocks, where those are. Who loads too much has not loaded it twice, otherwise.
    One that is just what there is too much, and hardly more, is told alone.

    Args:
        tried: a trial with a right result, of few enough threads that its touches are kept.
        counter: one of COUNTERS.
        excess: what was counted beyond the limit.
        function: the one kernel of several that is at fault, or "".
    """
    if counter not in COUNTERS:
        return []
    pairs = zip(tried.given.launches, tried.reports, strict=True)
    launches = [(a, b) for a, b in pairs if function in ("", a.function)]
    for by_thread in (True, False):
        found = [
            again
            for launch, report in launches
            for again in _of_a_launch(tried, launch, report, counter, by_thread=by_thread)
        ]
        if sum(again.cost for again in found) >= excess:
            ranked = sorted(_joined(found), key=lambda again: (-again.cost, again.line))
            # Others may be loads that the puzzle allows: what is needed twice, or a halo.
            just = [again for again in ranked if excess <= again.cost <= excess * (1 + MARGIN)]
            return just or ranked
    return []


def _joined(found: Iterable[Again]) -> Iterator[Again]:
    """Yields what several launches of one kernel load again as one."""
    costs: dict[tuple[str, int, str, int, bool], int] = defaultdict(int)
    for each in found:
        costs[each.function, each.line, each.array, each.before, each.by_thread] += each.cost
    return (Again(*key, cost) for key, cost in costs.items())


def _of_a_launch(
    tried: Trial, launch: Launch, report: Report, counter: str, *, by_thread: bool
) -> Iterator[Again]:
    block = int(np.prod(report.launch.block))
    arrays: dict[str, list[Touch]] = defaultdict(list)
    for touch in report.touches:
        if touch.space == "global" and touch.kind == "read" and touch.cells.size:
            arrays[touch.array].append(touch)
    for array, touches in arrays.items():
        lines = np.concatenate([np.full(t.cells.size, t.line) for t in touches])
        turns = np.concatenate([np.full(t.cells.size, n) for n, t in enumerate(touches)])
        threads = np.concatenate([t.threads for t in touches])
        cells = np.concatenate([t.cells for t in touches])
        warps = threads // block * -(-block // WARP) + threads % block // WARP
        owners = threads if by_thread else threads // block
        # A request is what one warp loads in one turn: what its lanes share in it costs once.
        requests = turns * (int(warps.max()) + 1) + warps
        many = int(cells.max()) + 1
        _, first, back = np.unique(owners * many + cells, return_index=True, return_inverse=True)
        again = requests != requests[first][back]
        if not again.any():
            continue
        size = _item_bytes(tried, launch, array) if counter.endswith("bytes") else 1
        for line in np.unique(lines[again]).tolist():
            mine = again & (lines == line)
            if counter.endswith("bytes"):
                cost = size * len(np.unique(requests[mine] * many + cells[mine]))
            else:
                fresh = np.unique(requests[~again])
                cost = int((~np.isin(np.unique(requests[mine]), fresh)).sum())
            if cost:
                before, counts = np.unique(lines[first][back][mine], return_counts=True)
                most = int(before[np.argmax(counts)])
                yield Again(launch.function, line, array, most, by_thread, cost)


def _item_bytes(tried: Trial, launch: Launch, array: str) -> int:
    """Bytes of an element of what a kernel calls an array."""
    for name in launch.args:
        if array in tried.own_names(launch, name):
            value = tried.given.outputs.get(name, tried.given.inputs.get(name))
            return int(np.asarray(value).itemsize)
    return 0

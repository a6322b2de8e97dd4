"""The request of a warp that cost most, for each line and array: what a picture of costs is of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from simt.machine.lanes import WARP, Lanes
from simt.machine.observer import Access, Observer, Setting
from simt.observe.recorded import cost_by_warp
from simt.observe.transactions import SECTOR_BYTES, WORD_BYTES

_KINDS = {"load": "read", "store": "write", "atomic": "atomic"}
_PERIODS = {"global": SECTOR_BYTES, "shared": WORD_BYTES}


@dataclass(frozen=True, eq=False)
class WarpRequest:
    """What the lanes of one warp asked for in one access.

    Attributes:
        kind: "read", "write" or "atomic".
        array, space: its name in the kernel; "global" or "shared".
        line: of the access.
        block, warp: linear numbers, of the block in the grid and of the warp in the block.
        itemsize: bytes that each lane asks for.
        addresses: for each of the 32 lanes the first byte it asks for, counted from the beginning
            of the array's memory, or of the block's shared memory; None where it takes no part.
        cost: sectors of a global access, wavefronts of a shared one; `least`, the fewest that bytes
            and mask allow.
    """

    kind: str
    array: str
    space: str
    line: int
    block: int
    warp: int
    itemsize: int
    addresses: tuple[int | None, ...]
    cost: int
    least: int

    @property
    def excess(self) -> int:
        """What it costs beyond the least."""
        return self.cost - self.least


class CostliestRequests(Observer):
    """Keeps, for each line, kind and array, the request with the largest excess.

    Of requests without any the one that costs most is kept, of equals the first.

    Attributes:
        found: in the order in which the lines were first met.
    """

    def __init__(self) -> None:
        self.found: dict[tuple[int, str, str], WarpRequest] = {}

    def begin(self, setting: Setting) -> None:
        """Starts afresh: a launch may begin more than once."""
        self.found = {}

    def batch(self, lanes: Lanes) -> None:
        """Keeps the lanes, which say whose a warp is."""
        self.lanes = lanes

    def access(self, access: Access) -> None:
        """Looks at one access to global or shared memory."""
        array = access.array
        if array.space not in _PERIODS or array.component_bytes != array.dtype.itemsize:
            return
        whole = partial(cost_by_warp, np.ones(access.mask.count, bool))
        costs = access.counted("cost of each warp", _PERIODS[array.space], whole)
        warp, (cost, least) = max(
            costs.items(), key=lambda item: (item[1][0] - item[1][1], item[1][0], -item[0])
        )
        key = access.line, _KINDS[access.kind], array.name
        known = self.found.get(key)
        if known is None or (cost - least, cost) > (known.excess, known.cost):
            self.found[key] = self._request(access, warp, cost, least)

    def _request(self, access: Access, warp: int, cost: int, least: int) -> WarpRequest:
        array, mine = access.array, access.warps == warp
        start = array.allocation.address if array.space == "global" else 0
        addresses: list[int | None] = [None] * WARP
        lanes = (access.mask.lanes[mine] % WARP).tolist()
        for lane, address in zip(lanes, access.addresses[mine].tolist(), strict=True):
            addresses[lane] = address - start
        block, inside = divmod(warp, self.lanes.lanes_per_block // WARP)
        return WarpRequest(
            _KINDS[access.kind],
            array.name,
            array.space,
            access.line,
            int(self.lanes.blocks[block]),
            inside,
            array.dtype.itemsize,
            tuple(addresses),
            cost,
            least,
        )

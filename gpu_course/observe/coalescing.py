"""Global memory traffic: requests, sectors and bytes, per line.

Source: Nsight Compute documentation, "Memory Tables": a request is one warp-level instruction, a
sector an aligned piece of 32 bytes.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from gpu_course.simt.launch import Observer
from gpu_course.simt.memory import Access
from gpu_course.simt.report import GlobalCounters

SECTOR_BYTES = 32
# A warp's number goes above every address, so that one sorted vector holds all warps' requests.
WARP_SHIFT = 48


def count_request(address: np.ndarray, warps: np.ndarray, itemsize: int) -> GlobalCounters:
    """Returns the traffic of one access by many warps.

    Args:
        address: int64 (n,), the first byte each active lane touches.
        warps: int64 (n,), the warp of each, in ascending order.
        itemsize: bytes each lane asks for; a power of two up to 16.

    >>> lanes = np.arange(32)
    >>> count_request(lanes * 8, lanes // 32, 4)
    GlobalCounters(requests=1, sectors=8, excess_sectors=4, bytes=128)
    """
    key = address + (warps << WARP_SHIFT)
    step = np.diff(key)
    if (step < 0).any():
        key = np.sort(key)
        step = np.diff(key)
    fresh = np.concatenate(([True], step != 0))
    distinct = key[fresh]
    sector_step = np.diff(distinct // SECTOR_BYTES)
    sectors = 1 + int(np.count_nonzero(sector_step))
    starts = np.flatnonzero(np.concatenate(([True], np.diff(distinct >> WARP_SHIFT) != 0)))
    cells = np.diff(np.concatenate((starts, [distinct.size])))
    least = int((-(-cells * itemsize // SECTOR_BYTES)).sum())
    return GlobalCounters(
        requests=len(starts),
        sectors=sectors,
        excess_sectors=sectors - least,
        bytes=distinct.size * itemsize,
    )


class Coalescing(Observer):
    """Counts global loads and stores by line."""

    def __init__(self) -> None:
        self.by_line: dict[tuple[int, str], GlobalCounters] = defaultdict(GlobalCounters)

    def access(self, access: Access) -> None:
        """Adds one access."""
        itemsize = access.array.dtype.itemsize
        if access.array.space != "global":
            return
        counted = count_request(access.addresses, access.warps, itemsize)
        kind = f"global_{access.kind}"
        if access.kind == "atomic":
            kind = "atom" if access.returns else "red"
        self.by_line[access.line, kind] += counted

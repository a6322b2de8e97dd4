"""Global memory traffic: requests, sectors and bytes, per line.

Source: Nsight Compute documentation, "Memory Tables": a request is one warp-level instruction, a
sector an aligned piece of 32 bytes.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict

import numpy as np

from gpu_course.observe.patterns import by_group, repeated, sort_rows
from gpu_course.simt.observer import Access, Observer
from gpu_course.simt.report import GlobalCounters

SECTOR_BYTES = 32
SECTOR_BITS = 5
MOST_LANES_KEPT = 1024
"""Of an access whose count is kept for others that are the same."""


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
    rows = by_group(address, warps)
    total = GlobalCounters(requests=len(rows))
    # Moved by whole sectors, an access touches as many.
    starts = rows[:, :1] & -SECTOR_BYTES
    for pattern, times in repeated(rows - starts):
        total += _count_rows(pattern, times, itemsize)
    return total


def _count_rows(rows: np.ndarray, times: int, itemsize: int) -> GlobalCounters:
    rows, steps = sort_rows(rows)
    sector = rows >> SECTOR_BITS
    sectors = len(rows) + int(np.count_nonzero(sector[:, 1:] != sector[:, :-1]))
    cells = 1 + np.count_nonzero(steps, axis=1)
    least = int((-(-cells * itemsize // SECTOR_BYTES)).sum())
    return GlobalCounters(
        sectors=times * sectors,
        excess_sectors=times * (sectors - least),
        bytes=times * int(cells.sum()) * itemsize,
    )


def _count(access: Access) -> GlobalCounters:
    """A complex number is two components, and each is a request of its own."""
    width = access.array.component_bytes
    counted = [
        _count_part(access.addresses + part, access.warps, width)
        for part in range(0, access.array.dtype.itemsize, width)
    ]
    return counted[0] if len(counted) == 1 else GlobalCounters.total(counted)


def _count_part(address: np.ndarray, warps: np.ndarray, width: int) -> GlobalCounters:
    if address.size > MOST_LANES_KEPT:
        return count_request(address, warps, width)
    return _count_again(address.tobytes(), warps.tobytes(), width)


@functools.lru_cache(maxsize=512)
def _count_again(address: bytes, warps: bytes, width: int) -> GlobalCounters:
    """A small launch is often one of many that touch memory alike."""
    return count_request(np.frombuffer(address, np.int64), np.frombuffer(warps, np.int64), width)


class Coalescing(Observer):
    """Counts global loads and stores by line."""

    def __init__(self) -> None:
        self.by_line: dict[tuple[int, str], GlobalCounters] = defaultdict(GlobalCounters)
        self.updates: Counter[int] = Counter()

    def access(self, access: Access) -> None:
        """Adds one access."""
        if access.array.space != "global":
            return
        counted = access.counted(
            "sectors",
            SECTOR_BYTES,
            lambda: _count(access),
        )
        kind = f"global_{access.kind}"
        if access.kind == "atomic":
            kind = "atom" if access.returns else "red"
            self.updates[access.line] += access.addresses.size
        self.by_line[access.line, kind] += counted

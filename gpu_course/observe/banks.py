"""Shared memory traffic: wavefronts and bank conflicts, and requests to local memory, per line.

Source: CUDA C++ Programming Guide, "Shared Memory" of compute capability 5.x and later: 32 banks,
successive 4-byte words in successive banks; lanes that ask for the same word are served together.
"""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np

from gpu_course.observe.patterns import by_group, repeated, sort_rows
from gpu_course.simt.lanes import WARP
from gpu_course.simt.observer import Access, Observer
from gpu_course.simt.report import SharedCounters

BANKS = 32
WORD_BYTES = 4


def count_wavefronts(address: np.ndarray, lanes: np.ndarray, itemsize: int) -> SharedCounters:
    """Returns the traffic of one access to shared memory by many warps.

    Accesses wider than a word are served in turns: 8 bytes by half warps, 16 by quarter warps.

    Args:
        address: int64 (n,), the first byte within its block's shared memory that each lane touches.
        lanes: int64 (n,), the lane numbers, ascending; 32 to a warp.
        itemsize: bytes each lane asks for; a power of two up to 16.

    >>> lanes = np.arange(32)
    >>> count_wavefronts(lanes * 8, lanes, 4)
    SharedCounters(requests=1, wavefronts=2, conflicts=1)
    """
    unit = max(itemsize, WORD_BYTES)
    banks = BANKS * WORD_BYTES // unit  # lanes served in one turn, and units in one pass
    # Both are powers of two, and a shift is much faster than a division.
    turns = lanes >> (banks.bit_length() - 1)
    rows = by_group(address >> (unit.bit_length() - 1), turns)
    # All lanes moving on by as many units turns the banks round and changes no conflict.
    wavefronts = sum(
        times * _wavefronts(pattern, banks) for pattern, times in repeated(rows - rows[:, :1])
    )
    requests = 1 + int(np.count_nonzero((lanes[1:] ^ lanes[:-1]) >= WARP))
    return SharedCounters(requests, wavefronts, wavefronts - len(rows))


def _wavefronts(rows: np.ndarray, banks: int) -> int:
    """The passes that all rows need: of each, the most different units in one bank."""
    rows, steps = sort_rows(rows)
    in_bank = (rows & (banks - 1)) + np.arange(len(rows))[:, None] * banks
    counted = np.bincount(in_bank[:, 0], minlength=len(rows) * banks)
    counted += np.bincount(in_bank[:, 1:][steps != 0], minlength=len(rows) * banks)
    return int(counted.reshape(-1, banks).max(axis=1).sum())


def _count(access: Access) -> SharedCounters:
    """A complex number is two components, and each is a request of its own."""
    width = access.array.component_bytes
    lanes = access.mask.lanes
    parts = range(0, access.array.dtype.itemsize, width)
    counted = [count_wavefronts(access.addresses + part, lanes, width) for part in parts]
    return SharedCounters.total(counted)


class Banks(Observer):
    """Counts shared and local accesses by line."""

    def __init__(self) -> None:
        self.shared: dict[tuple[int, str], SharedCounters] = defaultdict(SharedCounters)
        self.local: Counter[tuple[int, str]] = Counter()

    def access(self, access: Access) -> None:
        """Adds one access."""
        if access.array.space == "local":
            self.local[access.line, access.kind] += access.mask.warp_count
        elif access.array.space == "shared":
            counted = access.counted(
                "wavefronts",
                WORD_BYTES,
                lambda: _count(access),
            )
            kind = "load" if access.kind == "load" else "store"
            self.shared[access.line, kind] += counted

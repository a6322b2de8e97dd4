"""Shared memory traffic: wavefronts and bank conflicts, and requests to local memory, per line.

Source: CUDA C++ Programming Guide, "Shared Memory" of compute capability 5.x and later: 32 banks,
successive 4-byte words in successive banks; lanes that ask for the same word are served together.
"""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np

from gpu_course.simt.lanes import WARP
from gpu_course.simt.launch import Observer
from gpu_course.simt.memory import Access
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
    words_each = max(1, itemsize // WORD_BYTES)
    turn = lanes // (WARP // words_each)
    first = address // WORD_BYTES
    words = (first[:, None] + np.arange(words_each)).reshape(-1) if words_each > 1 else first
    turns = np.repeat(turn, words_each) if words_each > 1 else turn
    key = (turns << 32) + words
    step = np.diff(key)
    if (step < 0).any():
        key = np.sort(key)
        step = np.diff(key)
    distinct = key[np.concatenate(([True], step != 0))]
    owner = distinct >> 32
    base = owner[0]
    per_bank = np.bincount((owner - base) * BANKS + (distinct & (BANKS - 1)))
    per_bank = np.pad(per_bank, (0, -per_bank.size % BANKS)).reshape(-1, BANKS)
    wavefronts = int(per_bank.max(axis=1).sum())
    requests = _runs(lanes // WARP)
    return SharedCounters(requests, wavefronts, wavefronts - _runs(turn))


def _runs(ascending: np.ndarray) -> int:
    return 1 + int(np.count_nonzero(np.diff(ascending)))


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
            itemsize = access.array.dtype.itemsize
            counted = count_wavefronts(access.addresses, access.mask.lanes, itemsize)
            kind = "load" if access.kind == "load" else "store"
            self.shared[access.line, kind] += counted

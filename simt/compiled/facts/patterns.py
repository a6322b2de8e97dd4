"""What accesses cost all warps of a block, where each lane's place beside the first is known.

Such an access costs the same wherever its first byte lies in the same way within 32 bytes of global
memory, or within the banks and the 16 bytes of shared memory. So it is worked out before a launch,
for each such way, as `observe.transactions` and `observe.counts` would count it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simt.machine.lanes import WARP
from simt.observe.transactions import BANKS, SECTOR_BYTES, WORD_BYTES, count_wavefronts

PIECE_BYTES = 16
PIECE_BITS = 4
ROW = 16
"""Lanes that are looked at together: whether they stand in a row, or at one element."""
IN_ROWS, AT_ONES, ALIKE, OTHERS = 1, 2, 3, 0
"""Shapes: every ROW lanes at elements that follow one another, or at one; each warp where the first
is; and all others."""


def shape_of(offsets: np.ndarray) -> int:
    """Returns the shape of a pattern.

    >>> shape_of(np.arange(32) % 16), shape_of(np.arange(32) // 16), shape_of(np.arange(32) * 2)
    (1, 2, 0)
    >>> shape_of(np.arange(64) % 32 * 7)
    3
    """
    rows = offsets.reshape(-1, ROW)
    beside = rows - rows[:, :1]
    if (beside == np.arange(ROW)).all():
        return IN_ROWS
    if not beside.any():
        return AT_ONES
    warps = offsets.reshape(-1, WARP)
    return ALIKE if len(warps) > 1 and (warps == warps[0]).all() else OTHERS


def sectors(offsets: np.ndarray, size: int) -> np.ndarray:
    """Returns the traffic of an access to global memory.

    Args:
        offsets: int64 (threads,), the elements of the lanes, counted from the first lane's.
        size: bytes of an element.

    Returns:
        int64 (SECTOR_BYTES // size, 4): for each place of the first byte in its sector, requests,
        sectors, the least that could do, bytes. Places are multiples of the size.

    >>> sectors(np.arange(32), 4)[:2].tolist()
    [[1, 4, 4, 128], [1, 5, 4, 128]]
    """
    rows = np.sort(offsets.reshape(-1, WARP), axis=1)
    places = np.arange(0, SECTOR_BYTES, size)[:, None, None]
    touched = (places + rows * size) // SECTOR_BYTES
    cells = 1 + np.count_nonzero(rows[:, 1:] != rows[:, :-1], axis=1)
    found = np.zeros((len(places), 4), np.int64)
    found[:, 0] = len(rows)
    changes = np.count_nonzero(touched[..., 1:] != touched[..., :-1], axis=(1, 2))
    found[:, 1] = len(rows) + changes
    found[:, 2] = (-(-cells * size // SECTOR_BYTES)).sum()
    found[:, 3] = cells.sum() * size
    return found


def banks(offsets: np.ndarray, size: int, address: int) -> np.ndarray:
    """Returns the traffic of an access to shared memory.

    Args:
        offsets: int64 (threads,), the elements of the lanes, counted from the first lane's.
        size: bytes of an element.
        address: the array's first byte in the block's shared memory.

    Returns:
        int64 (PIECE_BYTES // size, 3): for each place of the first byte in 16 bytes of the array,
        requests, wavefronts, and how many there would be without conflicts.

    >>> banks(np.arange(32) * 2, 4, 0)[0].tolist()
    [1, 2, 1]
    """
    lanes = np.arange(offsets.size)
    found = np.zeros((max(1, PIECE_BYTES // size), 3), np.int64)
    known: dict[int, list[int]] = {}
    # Moved by whole words, all of an access goes to other banks alike. What lies before the first
    # lane's place is put behind 0, by as many bytes as there are banks.
    turn = BANKS * WORD_BYTES * (1 + int(-offsets.min() * size) // (BANKS * WORD_BYTES))
    for number in range(len(found)):
        place = (address + number * size) % max(WORD_BYTES, size)
        if place not in known:
            told = count_wavefronts(turn + place + offsets * size, lanes, size)
            known[place] = [told.requests, told.wavefronts, told.wavefronts - told.conflicts]
        found[number] = known[place]
    return found


@dataclass(frozen=True)
class Pieces:
    """The 16 bytes in which a warp's lanes find what they load from a shared array.

    A load is known by its kind, which says how its lanes' pieces lie beside the first one's, and by
    that one's number. Two loads of a warp are alike if both are the same.

    Attributes:
        kinds: how many kinds there are in all loads of an array.
        of_warp: per load, int64 (places, warps): the kind, by the place in 16 bytes of the warp's
            first byte.
    """

    kinds: int
    of_warp: tuple[np.ndarray, ...]


def pieces(loads: Sequence[np.ndarray], size: int) -> Pieces:
    """Returns the kinds of some loads from one array.

    Args:
        loads: per load, int64 (threads,), the elements of the lanes, counted from the first lane's.
        size: bytes of an element.

    >>> pieces([np.arange(32), np.arange(32) * 0, np.arange(32) + 4], 4).of_warp[1].tolist()
    [[4], [4], [4], [4]]
    """
    kinds: dict[bytes, int] = {}
    found = []
    for offsets in loads:
        rows = offsets.reshape(-1, WARP)
        beside = (rows - rows[:, :1]) * size
        kind = np.zeros((max(1, PIECE_BYTES // size), len(rows)), np.int64)
        for place in range(len(kind)):
            own = (place * size + beside) >> PIECE_BITS
            for warp, row in enumerate(own):
                kind[place, warp] = kinds.setdefault(row.tobytes(), len(kinds))
        found.append(kind)
    return Pieces(len(kinds), tuple(found))

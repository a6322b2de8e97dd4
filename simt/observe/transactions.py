"""Memory transactions per line: sectors of global memory, passes through shared memory's banks.

Sources: Nsight Compute documentation, "Memory Tables": a request is one warp-level instruction, a
sector an aligned piece of 32 bytes. CUDA C++ Programming Guide, "Shared Memory" of compute
capability 5.x and later: 32 banks, successive 4-byte words in successive banks; lanes that ask for
the same word are served together.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator

import numpy as np

from simt.machine.lanes import WARP, WARP_BITS
from simt.machine.observer import Access, Observer
from simt.report import GlobalCounters, SharedCounters

# Global memory

SECTOR_BYTES = 32
SECTOR_BITS = 5
MAX_LANES_KEPT = 1024
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
    rows = by_group(address, warps, WARP)
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


def _count_global(access: Access) -> np.ndarray:
    """A complex number is two components, and each is a request of its own."""
    array, elements, lanes, times = access.array, access.in_copy, access.mask.lanes, 1
    whole = elements.size > WARP and access.mask.whole_warps
    # From warp to warp of a run all lanes move on by 32 elements, which are whole sectors.
    if whole and (access.pattern.run or _warps_are_alike(elements)):
        times = elements.size // WARP
        elements, lanes = elements[:WARP], lanes[:WARP]
    width, addresses = array.component_bytes, array.address + elements * array.dtype.itemsize
    parts = range(0, array.dtype.itemsize, width)
    warps = lanes >> WARP_BITS
    return _times(times, [_count_part(addresses + part, warps, width) for part in parts])


def _warps_are_alike(elements: np.ndarray) -> bool:
    """True where all warps, each with all of its lanes, touch the same elements."""
    rows = elements.reshape(-1, WARP)
    return bool(np.count_nonzero(rows[-1] == rows[0]) == WARP and (rows == rows[0]).all())


def _count_part(address: np.ndarray, warps: np.ndarray, width: int) -> np.ndarray:
    if address.size > MAX_LANES_KEPT:
        return _row(count_request(address, warps, width))
    return _count_again(address.tobytes(), warps.tobytes(), width)


@functools.lru_cache(maxsize=512)
def _count_again(address: bytes, warps: bytes, width: int) -> np.ndarray:
    """A small launch is often one of many that touch memory alike."""
    told = np.frombuffer(address, np.int64), np.frombuffer(warps, np.int64)
    return _row(count_request(*told, width))


class _Sums(dict[tuple[int, str], np.ndarray]):
    """(line, kind of access) -> int64 (fields,), the counters of all such accesses together.

    Rows of numbers: counters themselves would be made anew for each access.
    """

    def add(self, line: int, kind: str, row: np.ndarray) -> None:
        """Adds a row, which stays as it is."""
        key = line, kind
        if key in self:
            self[key] += row
        else:
            self[key] = row.copy()


def _row(counters: GlobalCounters | SharedCounters) -> np.ndarray:
    """int64 (fields,), counters as a row of numbers."""
    return np.array(tuple(vars(counters).values()))


def _times(times: int, rows: list[np.ndarray]) -> np.ndarray:
    """So many times the sum of some rows, of which there is mostly one, counted once."""
    total = rows[0] if len(rows) == 1 else np.sum(rows, axis=0)
    return total if times == 1 else times * total


class Coalescing(Observer):
    """Counts global loads and stores by line."""

    def __init__(self) -> None:
        self.updates: Counter[int] = Counter()
        self._sums = _Sums()

    @property
    def by_line(self) -> dict[tuple[int, str], GlobalCounters]:
        """Returns (line, kind of access) -> what it counts for."""
        return {key: GlobalCounters(*row.tolist()) for key, row in self._sums.items()}

    def access(self, access: Access) -> None:
        """Adds one access."""
        if access.array.space != "global":
            return
        kind = f"global_{access.kind}"
        if access.kind == "atomic":
            kind = "atom" if access.returns else "red"
            self.updates[access.line] += access.mask.count
        counted = access.counted("sectors", SECTOR_BYTES, _count_global)
        self._sums.add(access.line, kind, counted)


# Shared memory, and local

BANKS = 32
WORD_BYTES = 4


def count_wavefronts(address: np.ndarray, lanes: np.ndarray, itemsize: int) -> SharedCounters:
    """Returns the traffic of one access to shared memory by many warps.

    Accesses wider than a word are served in turns: 8 bytes by half warps, 16 by quarter warps. They
    are even where all lanes ask for the same bytes, as a counter of an A100 says for 8 of them:
    github.com/te42kyfo/gpu-benches at commit 1c36d50, gpu-strides/a100.txt, loads that hit L1.

    Args:
        address: int64 (n,), the first byte within its block's shared memory that each lane touches.
        lanes: int64 (n,), the lane numbers, ascending; 32 to a warp.
        itemsize: bytes each lane asks for; a power of two up to 16.

    >>> lanes = np.arange(32)
    >>> count_wavefronts(lanes * 8, lanes, 4)
    SharedCounters(requests=1, wavefronts=2, conflicts=1)
    >>> count_wavefronts(lanes * 0, lanes, 8)
    SharedCounters(requests=1, wavefronts=2, conflicts=0)
    """
    unit = max(itemsize, WORD_BYTES)
    banks = BANKS * WORD_BYTES // unit  # lanes served in one turn, and units in one pass
    # Both are powers of two, and a shift is much faster than a division.
    turns = lanes >> (banks.bit_length() - 1)
    rows = by_group(address >> (unit.bit_length() - 1), turns, banks)
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


def _count_shared(access: Access) -> np.ndarray:
    """What all blocks do alike is counted once; so are the two components of a complex number."""
    array, in_copy, lanes = access.array, access.in_copy, access.mask.lanes
    blocks = -(-array.flat.size // array.per_copy)
    large = in_copy.size > MAX_LANES_KEPT
    alike = _blocks_alike(access.mask.active, in_copy, blocks) if large else 1
    if alike > 1:
        each = in_copy.size // alike
        in_copy, lanes = in_copy[:each], lanes[:each]
    width, addresses = array.component_bytes, array.address + in_copy * array.dtype.itemsize
    parts = range(0, array.dtype.itemsize, width)
    return _times(alike, [_count_banks(addresses + part, lanes, width) for part in parts])


def _blocks_alike(active: np.ndarray, in_copy: np.ndarray, blocks: int) -> int:
    """Returns how many blocks take part, all with the same lanes and elements of their own copy.

    1 where they differ in that; blocks of which no lane takes part do not count.
    """
    by_block = active.reshape(blocks, -1)
    by_block = by_block[by_block.any(axis=1)]
    if np.count_nonzero(by_block == by_block[0]) < by_block.size:
        return 1
    rows = in_copy.reshape(len(by_block), -1)
    return len(rows) if np.count_nonzero(rows == rows[0]) == in_copy.size else 1


def _count_banks(address: np.ndarray, lanes: np.ndarray, width: int) -> np.ndarray:
    if address.size > MAX_LANES_KEPT:
        return _row(count_wavefronts(address, lanes, width))
    return _count_banks_again(address.tobytes(), lanes.tobytes(), width)


@functools.lru_cache(maxsize=512)
def _count_banks_again(address: bytes, lanes: bytes, width: int) -> np.ndarray:
    told = np.frombuffer(address, np.int64), np.frombuffer(lanes, np.int64)
    return _row(count_wavefronts(*told, width))


class Banks(Observer):
    """Counts shared and local accesses by line."""

    def __init__(self) -> None:
        self.local: Counter[tuple[int, str]] = Counter()
        self.updates: Counter[int] = Counter()
        self._sums = _Sums()

    @property
    def shared(self) -> dict[tuple[int, str], SharedCounters]:
        """Returns (line, "load" or "store") -> what it counts for."""
        return {key: SharedCounters(*row.tolist()) for key, row in self._sums.items()}

    def access(self, access: Access) -> None:
        """Adds one access."""
        space = access.array.space
        if space == "shared":
            kind = "load" if access.kind == "load" else "store"
            counted = access.counted("wavefronts", WORD_BYTES, _count_shared)
            self._sums.add(access.line, kind, counted)
            if access.kind == "atomic":
                self.updates[access.line] += access.mask.count
        elif space == "local":
            self.local[access.line, access.kind] += access.mask.warp_count


# Warps that touch memory in one pattern: the pattern is counted once for all of them

# Most accesses have one pattern, or one more for the warps at an edge; after these few, looking
# for the next costs more than counting what is left row by row.
MAX_PATTERNS = 4


def by_group(values: np.ndarray, groups: np.ndarray, most: int = 0) -> np.ndarray:
    """Returns the values of each group as one row; short rows repeat their first value.

    Args:
        values: int64 (n,), one per lane.
        groups: int64 (n,), the group of each lane, in ascending order.
        most: no group is larger; 0 where that is not known.

    >>> by_group(np.array([7, 8, 9, 5]), np.array([0, 0, 0, 4]))
    array([[7, 8, 9],
           [5, 5, 5]])
    """
    if most and groups.size == most * int(groups[-1] - groups[0] + 1):
        return values.reshape(-1, most)  # as many as there can be: all groups are full
    starts = np.flatnonzero(groups[1:] != groups[:-1]) + 1
    count = starts.size + 1
    width = groups.size // count
    if width * count == groups.size and bool((starts == np.arange(1, count) * width).all()):
        return values.reshape(count, width)
    edges = np.concatenate(([0], starts, [groups.size]))
    sizes = edges[1:] - edges[:-1]
    width = int(sizes.max())
    rows = np.repeat(values[edges[:-1]], width)
    rows[np.arange(groups.size) + np.repeat(np.arange(count) * width - edges[:-1], sizes)] = values
    return rows.reshape(count, width)


def repeated(rows: np.ndarray) -> Iterator[tuple[np.ndarray, int]]:
    """Yields rows that are all different or nearly so, and how many times each of them occurs.

    >>> [(r.tolist(), n) for r, n in repeated(np.array([[1, 2], [1, 2], [3, 4]]))]
    [([[1, 2]], 2), ([[3, 4]], 1)]
    """
    for _ in range(MAX_PATTERNS):
        like_first = rows == rows[0]
        if like_first.all():
            yield rows[:1], len(rows)
            return
        same = like_first.all(axis=1)
        yield rows[:1], int(np.count_nonzero(same))
        rows = rows[~same]
    yield rows, 1


def sort_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns each row in ascending order, and the steps from one value to the next.

    >>> sort_rows(np.array([[3, 1, 1]]))
    (array([[1, 1, 3]]), array([[0, 2]]))
    """
    steps = rows[:, 1:] - rows[:, :-1]
    if (steps < 0).any():
        rows = np.sort(rows, axis=1)
        steps = rows[:, 1:] - rows[:, :-1]
    return rows, steps

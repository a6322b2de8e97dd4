"""What attention moves between memory and chip: by a formula, and tile by tile.

Counted are bytes that kernels ask for; a cache may answer a part of them. One head, float32, and
the same number of queries and keys.

Source: Dao, Fu, Ermon, Rudra and Ré, "FlashAttention" (2022), Algorithms 0 and 1, Theorem 2; the
loop over queries outside and keys inside is that of FlashAttention-2 (2023), Algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

FLOAT32 = 4


def standard_bytes(n: int, d: int) -> int:
    """Returns the bytes of three kernels that move each number of their arrays once.

    They are scores = q k, weights = softmax(scores), out = weights v.

    >>> standard_bytes(1024, 64) / (4 * 1024 * 64)
    68.0
    """
    first, second, third = 2 * n * d + n * n, 2 * n * n, n * n + 2 * n * d
    return FLOAT32 * (first + second + third)


def tile_rows(n: int, d: int, on_chip: int) -> int:
    """Returns the most rows of q that fit on the chip, 0 where not one does.

    Args:
        n, d: rows, and numbers in a row.
        on_chip: bytes. Each row takes its q, its sum, its largest score and its sum of weights; one
            row of k and one of v are there for all.
    """
    left = on_chip // FLOAT32 - 2 * d
    return max(0, min(n, left // (2 * d + 2)))


def tiled_bytes(n: int, d: int, rows: int) -> int:
    """Returns the bytes of one kernel that runs through k and v once for every tile of rows.

    >>> tiled_bytes(100, 64, 32) == 4 * 64 * (100 + 2 * 100 * 4) + 4 * 100 * 65
    True
    """
    tiles = -(-n // rows)
    return FLOAT32 * (n * d + tiles * 2 * n * d + n * (d + 1))


@dataclass(frozen=True)
class Band:
    """The queries of one block, and when it loaded each key.

    Attributes:
        first, queries: the block's rows of q.
        turns: int (loads, keys): for each time that a key was loaded, how early: 0 for the block's
            first load of any key, counted on from there; -1 where it was not loaded so often.
    """

    first: int
    queries: int
    turns: np.ndarray

    @property
    def loads(self) -> int:
        """How many rows of k the block loaded, each counted as often as it came."""
        return int((self.turns >= 0).sum())


@dataclass(frozen=True)
class Loads:
    """Which block loaded which key when.

    Attributes:
        name: of the kernel or plan.
        queries, keys: rows of q and of k.
        bands: block by block.
        loaded_bytes: all that was loaded from global memory: of k, and of everything else.
        end: the latest turn of the whole launch, where only a part of it is kept; else -1.
    """

    name: str
    queries: int
    keys: int
    bands: tuple[Band, ...]
    loaded_bytes: int
    end: int = -1

    @property
    def times(self) -> float:
        """How often the whole of k was loaded."""
        return sum(band.loads for band in self.bands) / self.keys

    @property
    def last(self) -> int:
        """The latest turn of any block."""
        if self.end >= 0:
            return self.end
        return max((int(band.turns.max(initial=0)) for band in self.bands), default=0)

    def until(self, turn: int) -> Loads:
        """Returns only what was loaded up to a turn."""
        bands = tuple(
            replace(band, turns=np.where(band.turns <= turn, band.turns, -1)) for band in self.bands
        )
        return replace(self, bands=bands, end=self.last)


def planned_loads(n: int, d: int, rows: int, tile: int = 8) -> Loads:
    """Returns what tiles of so many rows load, if keys come by in tiles.

    Args:
        n: queries, and keys.
        d: numbers in a row.
        rows: of q in a tile.
        tile: keys that a block loads at a time.
    """
    turns = (np.arange(n) // tile)[None, :]
    bands = [Band(first, min(rows, n - first), turns) for first in range(0, n, rows)]
    stored = FLOAT32 * n * (d + 1)
    word = "row" if rows == 1 else "rows"
    return Loads(f"tiles of {rows} {word}", n, n, tuple(bands), tiled_bytes(n, d, rows) - stored)

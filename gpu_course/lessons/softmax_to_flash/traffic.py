"""What attention moves between memory and chip: by a formula, and tile by tile.

Counted are bytes that kernels ask for; a cache may answer a part of them. One head, float32, and
the same number of queries and keys.

Source: Dao, Fu, Ermon, Rudra and Ré, "FlashAttention" (2022), Algorithms 0 and 1, Theorem 2; the
loop over queries outside and keys inside is that of FlashAttention-2 (2023), Algorithm 1.
"""

from __future__ import annotations

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

"""What the puzzles on scans share: sums up to each number, whole and in pieces."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.specification import Budget

TPB = 64
WARP = 32


def running(a: np.ndarray) -> np.ndarray:
    """Returns the sum up to each number, float32.

    >>> running(np.array([1, 2, 3], np.float32)).tolist()
    [1.0, 3.0, 6.0]
    """
    return np.cumsum(a, dtype=np.float32)


def in_tiles(a: np.ndarray, tile: int) -> list[np.ndarray]:
    """Returns the pieces of `tile` numbers that a vector is cut into.

    >>> [len(piece) for piece in in_tiles(np.arange(100), 64)]
    [64, 36]
    """
    return [a[start : start + tile] for start in range(0, len(a), tile)]


def running_in_tiles(a: np.ndarray, tile: int) -> np.ndarray:
    """Returns the sum up to each number within its tile."""
    return np.concatenate([running(piece) for piece in in_tiles(a, tile)])


def barriers_of(waits: int, warps: int, words: str) -> Budget:
    """Returns a budget of so many barriers for a block of so many warps, for each of `tiles`."""
    return Budget(
        "barriers",
        lambda case, counters: waits * warps * -(-case.sizes["size"] // (warps * WARP)),
        words,
        "waits of a warp at a barrier",
    )

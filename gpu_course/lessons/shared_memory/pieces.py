"""What the puzzles share whose blocks have a piece of an array each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpu_course.puzzle.builders import drawn_case, sized, special

TPB = 64
WARP = 32
WARPS = TPB // WARP

CASES = (
    sized("visible example", visible=True, size=100),
    sized("one cell", size=1),
    sized("exactly two blocks", size=128),
    sized("one cell more than two blocks", size=129),
    sized("1,003 large numbers", size=1003, doublings=100),
    special("NaN and infinities", size=131),
)
"""Sizes of a vector at which blocks of TPB threads go wrong."""
random_case = drawn_case(size=(65, 700))


def clamped_bytes(blocks: int, warps: int = WARPS) -> int:
    """Returns the bytes that loads clamped to the array may ask for beside those that are needed.

    A warp that fills a tile in two turns asks twice for the last cell, where a guard would ask for
    nothing.

    Args:
        blocks: those alone whose tile goes beyond the array: the others have nothing to clamp.
        warps: of a block.

    >>> clamped_bytes(2)
    32
    """
    return 4 * 2 * warps * blocks


def in_pieces(a: np.ndarray) -> list[np.ndarray]:
    """Returns the pieces of a vector that blocks of TPB threads have.

    >>> [len(piece) for piece in in_pieces(np.arange(100))]
    [64, 36]
    """
    return [a[start : start + TPB] for start in range(0, len(a), TPB)]


def by_piece(a: np.ndarray, change: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Returns a vector whose pieces are changed one by one."""
    return np.concatenate([change(piece) for piece in in_pieces(a)])


def beyond(size: int, tile: int, *, before: int, after: int) -> int:
    """Returns how many pieces of `tile` cells of a vector want cells that lie beyond it.

    Args:
        size: of the vector.
        tile: cells of a piece.
        before, after: how many cells at each side of a piece are wanted as well.

    >>> beyond(128, 64, before=0, after=3), beyond(120, 64, before=0, after=3)
    (1, 1)
    >>> beyond(192, 64, before=1, after=0)
    1
    """
    return sum(start < before or start + tile + after > size for start in range(0, size, tile))


def starts(size: int) -> range:
    """Returns where the pieces of a vector of `size` cells begin."""
    return range(0, size, TPB)

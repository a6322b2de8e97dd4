"""What the puzzles share whose blocks have a piece of an array each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpu_course.catalog.builders import eighths
from gpu_course.catalog.specification import Case, Values

TPB = 64
WARP = 32
WARPS = TPB // WARP

OUTSIDE_THE_TILE = {
    "race in global memory": (
        "Two threads met at one cell of global memory. Which cells of out does a block have, and "
        "which of them does this thread have?"
    ),
}
"""What a puzzle with a tile says of a race elsewhere: the tile has nothing to do with it."""


def in_pieces(a: np.ndarray) -> list[np.ndarray]:
    """Returns the pieces of a vector that blocks of TPB threads have.

    >>> [len(piece) for piece in in_pieces(np.arange(100))]
    [64, 36]
    """
    return [a[start : start + TPB] for start in range(0, len(a), TPB)]


def by_piece(a: np.ndarray, change: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Returns a vector whose pieces are changed one by one."""
    return np.concatenate([change(piece) for piece in in_pieces(a)])


def vector_and_table(rng: np.random.Generator, case: Case) -> Values:
    """Returns the inputs a float32 (size,) and table float32 (rows, cols), and the sizes."""
    sizes = case.sizes
    return {
        "a": eighths(rng, sizes["size"], case),
        "table": eighths(rng, (sizes["rows"], sizes["cols"]), case),
        **{name: size for name, size in sizes.items() if name != "doublings"},
    }


def starts(size: int) -> range:
    return range(0, size, TPB)

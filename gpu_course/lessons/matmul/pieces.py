"""What the puzzles share that multiply two matrices."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gpu_course.puzzle.builders import blocks_to_cover, sized
from gpu_course.puzzle.specification import Budget, Case, Values

TILE = 16
"""The side of the square that a block of one result per thread makes."""

ARGUMENTS = ("out", "a", "b", "m", "n", "k")


def sides(name: str, m: int, n: int, k: int, *, visible: bool = False, **more: int) -> Case:
    """Returns a case of a product: m by n results of k products each.

    >>> cells_of(sides("a small one", 2, 3, 4))
    6
    """
    return sized(name, visible=visible, m=m, n=n, k=k, **more)


def large_square(least_bytes: int) -> Case:
    """Returns the product of two square matrices of whole tiles, three such matrices in all.

    >>> large_square(3 * 4 * 1000**2).sizes
    {'m': 1024, 'n': 1024, 'k': 1024}
    """
    side = math.isqrt(max(0, least_bytes - 1) // 12) + 1
    side = 64 * blocks_to_cover(side, 64)
    return sides("past L2", side, side, side)


def cells_of(case: Case) -> int:
    """Returns how many cells out has, in one matrix."""
    return case.sizes["m"] * case.sizes["n"]


def drawn_sides(
    m: tuple[int, int], n: tuple[int, int], k: tuple[int, int], **more: tuple[int, int]
) -> Callable[[np.random.Generator], Case]:
    """Returns a `random_case` function: each side from (first, behind the last)."""

    def random_case(rng: np.random.Generator) -> Case:
        ranges = {"m": m, "n": n, "k": k, **more}
        found = {name: int(rng.integers(*each)) for name, each in ranges.items()}
        return Case("sizes drawn at random", found)

    return random_case


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Returns a @ b, added up in float64 and rounded once; zero times infinity is NaN."""
    with np.errstate(invalid="ignore"):
        return np.asarray(a.astype(np.float64) @ b.astype(np.float64), dtype=np.float32)


def put_special_numbers(left: str, right: str) -> Callable[[Values], None]:
    """Returns what puts infinities, a NaN, and a zero that meets an infinity into two matrices.

    Args:
        left, right: their names; rows of the left one and columns of the right one make cells.
    """

    def put(values: Values) -> None:
        a, b = values[left], values[right]
        a[..., 0, 1], b[..., 1, 2] = 0, np.inf
        a[..., 2, 0] = np.nan
        a[..., -1, -1] = np.inf
        b[..., -1, -1] = np.inf

    return put


def square_grid(case: Case, side: int = TILE) -> tuple[int, int]:
    """Returns the grid that gives each square of out a block."""
    return blocks_to_cover(case.sizes["n"], side), blocks_to_cover(case.sizes["m"], side)


def tile_bytes(case: Case, side: int = TILE) -> int:
    """Returns the bytes that all blocks load where each brings its rows and columns once."""
    m, n, k = (case.sizes[name] for name in "mnk")
    return 4 * k * (m * blocks_to_cover(n, side) + n * blocks_to_cover(m, side))


# Where rows do not begin at a sector's start, it matters how lanes are laid over them. Any layout
# along the rows is good enough; one down the columns costs many times more.
LOADS_IN_ORDER = Budget(
    "global_load.excess_sectors",
    lambda case, counters: counters.global_load.excess_sectors + counters.global_load.sectors // 2,
    "The lanes of a warp have neighbouring x. Let x run along a row of each matrix you load from.",
    "excess sectors in loads",
)
STORES_IN_ORDER = Budget(
    "global_store.excess_sectors",
    lambda case, counters: (
        counters.global_store.excess_sectors + counters.global_store.sectors // 2
    ),
    "The lanes of a warp have neighbouring x. Let x run along a row of out when you store.",
    "excess sectors in stores",
)
ALL_IN_FLOAT32 = Budget(
    "float64_operations",
    0,
    "With a number that is not said to be float32, be it 0.5 or 0, Numba computes in float64, and "
    "goes on so. Most GPUs do many times more float32 than float64 in a second: write float32(0).",
    "float64 operations",
)
NO_ATOMICS = Budget(
    "red.requests + atom.requests",
    0,
    "An atomic goes to global memory, and no other thread adds to this cell. Where does a thread "
    "keep a number that only it needs?",
    "atomic requests to global memory",
)
NO_CONFLICTS = (
    Budget(
        "shared_load.conflicts",
        0,
        "Lanes that read different words of one bank are served one after the other. Which lanes "
        "of a warp read this line together, and how far apart are their words?",
        "bank conflicts in loads",
    ),
    Budget(
        "shared_store.conflicts",
        0,
        "Lanes that write different words of one bank are served one after the other. Which lanes "
        "of a warp write this line together, and how far apart are their words?",
        "bank conflicts in stores",
    ),
)
# A quarter more leaves room for a number of the epilogue that comes through a tile.
ROUNDS = Budget(
    "shared_load.requests",
    lambda case, counters: counters.shared_load.requests * 5 // 4,
    "Each product takes one number from each tile, and a block needs as many rounds as tiles begin "
    "within k. What else do your loops take from the tiles?",
    "requests to shared memory",
)

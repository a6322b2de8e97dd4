"""Which lane of a warp holds which element of the matrices that a tensor core multiplies.

The maps are those of mma.m16n8k16 with f16, as three tables: lane and number of an element -> row
and column. `mma` is the instruction itself, on what the lanes hold.

Source: NVIDIA, PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

WARP = 32
SHAPES: Mapping[str, tuple[int, int]] = {"A": (16, 16), "B": (16, 8), "C": (16, 8)}
"""Rows and columns of each matrix."""
HELD: Mapping[str, int] = {"A": 8, "B": 4, "C": 4}
"""How many elements of each a lane holds."""


@dataclass(frozen=True)
class _Strides:
    """A map as numbers: what each part of lane and number adds to row and column.

    Attributes:
        place: of the lane in its group of four.
        group: of the lane.
        odd, second, fourth: of the number's bits, from the lowest.
    """

    place: tuple[int, int]
    group: tuple[int, int]
    odd: tuple[int, int]
    second: tuple[int, int]
    fourth: tuple[int, int] = (0, 0)


_MAPS = {
    "A": _Strides(place=(0, 2), group=(1, 0), odd=(0, 1), second=(8, 0), fourth=(0, 8)),
    "B": _Strides(place=(2, 0), group=(0, 1), odd=(1, 0), second=(8, 0)),
    "C": _Strides(place=(0, 2), group=(1, 0), odd=(0, 1), second=(8, 0)),
}


def table(matrix: str) -> np.ndarray:
    """Returns the map of a matrix: an int array (32, elements of a lane, 2) of rows and columns.

    >>> table("A")[5].tolist()
    [[1, 2], [1, 3], [9, 2], [9, 3], [1, 10], [1, 11], [9, 10], [9, 11]]
    """
    strides = _MAPS[matrix]
    lane, number = np.arange(WARP)[:, None], np.arange(HELD[matrix])[None, :]
    return np.stack(
        [
            lane % 4 * strides.place[side]
            + lane // 4 * strides.group[side]
            + number % 2 * strides.odd[side]
            + number // 2 % 2 * strides.second[side]
            + number // 4 * strides.fourth[side]
            for side in (0, 1)
        ],
        axis=-1,
    )


def holds(places: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Returns what the lanes hold of a matrix by some map: (32, elements of a lane)."""
    return np.asarray(values)[places[..., 0], places[..., 1]]


def gathered(places: np.ndarray, held: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Returns the matrix that lanes hold by some map; NaN where no lane has an element."""
    found = np.full(shape, np.nan)
    found[places[..., 0], places[..., 1]] = held
    return found


def mma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Returns what the lanes hold of A B + C after the instruction, from what they hold before."""
    left, right, added = (
        gathered(table(name), held, SHAPES[name]) for name, held in (("A", a), ("B", b), ("C", c))
    )
    return holds(table("C"), left @ right + added)


def product_by(
    maps: Mapping[str, np.ndarray], a: np.ndarray, b: np.ndarray, c: np.ndarray
) -> np.ndarray:
    """Returns A B + C as a warp gets it that gives and takes its elements by its own maps."""
    held = mma(holds(maps["A"], a), holds(maps["B"], b), holds(maps["C"], c))
    return gathered(maps["C"], held, SHAPES["C"])

"""What the collectives by hand share: cases, inputs, and what a piece is."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.digits import long_numbers, rounding, with_specials
from gpu_course.puzzle.on_ranks import ranks_of
from gpu_course.puzzle.specification import Case, PerRank, Values
from simt.text import count


def case(ranks: int, length: int, name: str = "", visible: bool = False) -> Case:
    """Returns a case of so many ranks, with so many numbers in all pieces together."""
    words = name or f"{count(ranks, 'rank')}, {count(length, 'number')}"
    return Case(words, {"ranks": ranks, "length": length}, visible)


NOT_FINITE = "infinity and NaN on each rank"
"""The name of a case, and what is among its numbers."""


VISIBLE = case(3, 9, "visible example", visible=True)
CASES = (
    VISIBLE,
    case(3, 11),
    # The last rank's piece has nothing in it.
    case(3, 2),
    # So long that what is sent beside the calls would show.
    case(3, 30_000),
    case(2, 7),
    case(1, 5),
    case(4, 8, NOT_FINITE),
    case(4, 13),
)
"""Every number of ranks of a laptop; lengths that they divide, and lengths that they do not."""


def random_case(rng: np.random.Generator) -> Case:
    """Returns a case of two or four ranks whose pieces are not of equal length."""
    ranks = int(rng.choice([2, 4]))
    length = ranks * int(rng.integers(4, 12)) + int(rng.integers(1, ranks))
    return case(ranks, length, "a length drawn at random")


def numbers(rng: np.random.Generator, case: Case) -> np.ndarray:
    """Returns (length,) numbers whose sums are exact in any order, none of them zero.

    Eighths in the example, which are easy to read; all others are too long for float32.
    """
    length = case.sizes["length"]
    if case.visible:
        return rng.integers(1, 400, length) * rng.choice([-1.0, 1.0], length) / 8.0
    found = long_numbers(rng, length)
    return with_specials(rng, found) if case.name == NOT_FINITE else found


TOLERANCE = rounding(4, 64.0)
"""Of a number of each of four ranks: whoever halves and doubles again is right as well."""


def whole_on_each(rng: np.random.Generator, case: Case) -> Values:
    """Returns inputs where every rank holds numbers of its own for all pieces."""
    return {"x": PerRank(tuple(numbers(rng, case) for _ in range(ranks_of(case))))}


def pieces(x: np.ndarray, ranks: int) -> list[np.ndarray]:
    """Returns the pieces of an array as `Tensor.tensor_split` cuts it.

    >>> [piece.tolist() for piece in pieces(np.arange(5), 3)]
    [[0, 1], [2, 3], [4]]
    """
    return np.array_split(x, ranks)


def summed(inputs: Values) -> np.ndarray:
    """Returns the sum over all ranks."""
    with np.errstate(invalid="ignore"):
        total: np.ndarray = np.sum(inputs["x"].parts, axis=0)
    return total

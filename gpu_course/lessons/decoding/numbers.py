"""Numbers that the puzzles of this lesson draw."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import eighths
from gpu_course.puzzle.specification import Case


def within(
    rng: np.random.Generator, most: float, shape: tuple[int, ...], case: Case | None = None
) -> np.ndarray:
    """Returns float32 numbers of `eighths`, none twice, scaled so that none is larger than `most`.

    Args:
        rng: where the randomness comes from.
        most: the size of the largest.
        shape: the shape of the array.
        case: what is `special` in it takes the place of some numbers.
    """
    values = eighths(rng, shape, case)
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max()) if finite.size else 1.0
    return (values * np.float32(most / max(largest, 0.125))).astype(np.float32)


def lengths(rng: np.random.Generator, case: Case) -> np.ndarray:
    """Returns the tokens of each sequence: `longest` of the first, or of all where it says `even`.

    Returns:
        int32 (sequences,).
    """
    count, longest = case.sizes["sequences"], case.sizes["longest"]
    found = rng.integers(1, longest + 1, count)
    found[0] = longest
    if case.sizes.get("even"):
        found[:] = longest
    return found.astype(np.int32)

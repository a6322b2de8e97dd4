"""What the stubs of lesson 27 promise of their input, and what holds it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpu_course.puzzle.specification import Values
from tests.course.puzzles.promises import Promise, everywhere


def _at_least(words: str, least: Callable[[int], int]) -> tuple[Promise, ...]:
    return (
        everywhere(words, lambda given: given["microbatches"] >= least(given["ranks"])),
        Promise(words, lambda given: given["microbatches"] == least(given["ranks"])),
    )


def _holds(given: Values, test: Callable[[np.ndarray], np.ndarray]) -> bool:
    return any(bool(test(each).any()) for each in given["gradients"].parts)


PROMISES: dict[str, tuple[Promise, ...]] = {
    "split_backward": (
        Promise("Several microbatches are on their way", lambda given: given["microbatches"] > 1),
        Promise("each has all its parameters at its own output, or none", lambda given: True),
        everywhere("(rows, width) float64", lambda given: given["rows"] >= 1),
    ),
    "zb_h1": _at_least("at least as many as ranks", lambda ranks: ranks),
    "zb_h2": _at_least("at least 2 * ranks - 1", lambda ranks: 2 * ranks - 1),
    "beat_zb_2p": (
        everywhere("what F adds on its rank", lambda given: 0 < given["memory"][1] <= 1.0),
        everywhere("the most that a rank may hold", lambda given: given["limit"] >= 1.0),
        Promise("nobody is busy with it", lambda given: given["comm"] == 0),
    ),
    "dualpipe": (
        *_at_least("an even number, at least 2 * ranks", lambda ranks: 2 * ranks),
        everywhere("an even number", lambda given: given["microbatches"] % 2 == 0),
        everywhere("an even number", lambda given: given["ranks"] % 2 == 0),
    ),
    "rollback": (
        Promise("Where S is NaN", lambda given: _holds(given, np.isnan)),
        Promise("or infinite", lambda given: _holds(given, np.isinf)),
        Promise("called for one step after the other", lambda given: True),
    ),
}

ALIKE = {"zb_h1", "zb_h2", "beat_zb_2p", "dualpipe"}
"""More than one order is right, so none is compared."""

"""What the stubs of lesson 12 promise of their input, and what holds it."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.specification import Values
from tests.course.puzzles.promises import Promise, everywhere, finite, one_of


def _runs_in_order(given: Values) -> bool:
    """True where every tensor is made before it is read, or comes from outside."""
    made = {name for each in given["operations"] for name in each["writes"]}
    so_far: set[str] = set()
    for operation in given["operations"]:
        if any(name in made and name not in so_far for name in operation["reads"]):
            return False
        so_far |= set(operation["writes"])
    return True


def _each_in_one_group(given: Values) -> bool:
    numbers = sorted(number for group in given["groups"] for number in group)
    return numbers == list(range(len(given["operations"])))


PROMISES: dict[str, tuple[Promise, ...]] = {
    "traffic": (
        everywhere("in an order in which they can run", _runs_in_order),
        everywhere("each operation stands in one group", _each_in_one_group),
    ),
    "best_fusion": (
        everywhere("at most 18 operations", lambda given: len(given["operations"]) <= 18),
        Promise("at least one", lambda given: len(given["operations"]) == 1),
    ),
    "kernel_as_operator": (
        everywhere(
            "three float32 tensors",
            lambda given: all(given[name].dtype == np.float32 for name in ("x", "bias", "slope")),
        ),
        everywhere("hold finite numbers", finite("x", "bias", "slope")),
        everywhere("as long as bias", lambda given: given["x"].shape[-1:] == given["bias"].shape),
        Promise("x is float32 of one dimension", lambda given: given["x"].ndim == 1),
        Promise("or more", lambda given: given["x"].ndim == 3),
        Promise("Neither need be contiguous", one_of("turned", True)),
        Promise("x may have no rows", lambda given: given["x"].shape[0] == 0),
    ),
}
ALIKE = {"best_fusion"}

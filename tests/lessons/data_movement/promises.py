"""What the stubs of lesson 12 promise of their input, and what holds it."""

from __future__ import annotations

from gpu_course.puzzle.specification import Values
from tests.course.puzzles.promises import Promise, everywhere


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
}
ALIKE = {"best_fusion"}

"""What the stubs of lesson 11 promise of their input, and what holds it."""

from __future__ import annotations

import math

from gpu_course.lessons.counting.parameters import counted
from gpu_course.puzzle.specification import Values
from tests.course.puzzles.promises import Promise, everywhere

REFUSED = "ValueError"


def _odd(name: str):  # type: ignore[no-untyped-def]
    def held(given: Values) -> bool:
        return not (math.isfinite(given["runs"][0][name]) and given["runs"][0][name] > 0)

    return held


def _config(given: Values) -> Values:
    found: Values = given.get("config") or given["arguments"]["config"]
    return found


def _counts(given: Values) -> list[int]:
    """The numbers of a config that have to be 1 or more."""
    free = ("experts", "top_k", "gated", "tied")
    return [value for name, value in _config(given).items() if name not in free]


PROMISES: dict[str, tuple[Promise, ...]] = {
    "parameters": (
        Promise(
            "Raise ValueError where the numbers do not fit",
            lambda given: counted(_config(given))[0] == REFUSED,
        ),
        Promise("no layers, heads that do not divide", lambda given: _config(given)["layers"] == 0),
    ),
    "flops": (
        everywhere("Every number of config is 1 or more", lambda given: min(_counts(given)) >= 1),
    ),
    "mfu": (
        Promise(
            "Raise ValueError where tokens_per_s is NaN",
            lambda given: math.isnan(given["runs"][0]["tokens_per_s"]),
        ),
        Promise("gpus or peak is NaN, infinite, 0 or below", _odd("peak")),
        Promise("gpus or peak is NaN, infinite, 0 or below", _odd("gpus")),
    ),
    "days": (
        everywhere(
            "Every number is above 0",
            lambda given: all(value > 0 for value in given.values() if not isinstance(value, str)),
        ),
    ),
}

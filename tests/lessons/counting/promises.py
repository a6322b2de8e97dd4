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


PROMISES: dict[str, tuple[Promise, ...]] = {
    "parameters": (
        Promise(
            "Raise ValueError where the numbers do not fit",
            lambda given: counted(given["arguments"]["config"])[0] == REFUSED,
        ),
        Promise(
            "no layers, heads that do not divide",
            lambda given: given["arguments"]["config"]["layers"] == 0,
        ),
    ),
    "flops": (
        everywhere(
            "Every number of config is 1 or more",
            lambda given: (
                min(
                    value
                    for name, value in given["config"].items()
                    if name not in ("experts", "top_k", "gated", "tied")
                )
                >= 1
            ),
        ),
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
            lambda given: min(value for value in given.values() if not isinstance(value, str)) > 0,
        ),
    ),
}

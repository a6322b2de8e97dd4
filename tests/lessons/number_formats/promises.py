"""What the stubs of lesson 15 promise of their input, and what holds it."""

from __future__ import annotations

import math

from gpu_course.puzzle.specification import Values
from tests.course.puzzles.promises import Promise, everywhere


def _sums_are_exact(given: Values) -> bool:
    """Whether the master weight is what a sum without rounding gives."""
    total = given["w"]
    for update in given["updates"]:
        total += update
    return bool(total == math.fsum([given["w"], *given["updates"]]))


PROMISES: dict[str, tuple[Promise, ...]] = {
    "round_to": (
        Promise("it may be empty", lambda given: not given["numbers"]),
        everywhere("2 to 8", lambda given: 2 <= given["exponent_bits"] <= 8),
        everywhere("1 to 23", lambda given: 1 <= given["mantissa_bits"] <= 23),
        Promise("NaN stays NaN", lambda given: any(map(math.isnan, given["numbers"]))),
    ),
    "dynamic_loss_scaler": (Promise("there may be none", lambda given: not any(given["steps"])),),
    "vanishing_updates": (
        Promise("there may be none", lambda given: not given["updates"]),
        everywhere("All sums of the cases are exact in float64", _sums_are_exact),
    ),
}

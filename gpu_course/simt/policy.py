"""What a launch is held to: a puzzle asks for more than a script that somebody brings along."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Policy:
    """Which habits are errors.

    Attributes:
        wrap_negative: an index from -n to -1 counts from the end, as Numba compiles it, and is
            advice; where it does not, such an index is out of bounds, since it hides mistakes.
        same_value: severity of several threads storing one same value in a cell.
        returned: severity of a barrier that some threads have left out by returning: legal on GPUs
            from compute capability 7.0 on, and not portable.
        most_errors: a launch ends once it has been at fault so often; each costs far more than a
            statement without a fault.
        lambdas: a lambda is taken as the device function it is compiled to; a puzzle asks for a
            function with a name.
    """

    wrap_negative: bool
    same_value: str
    returned: str
    lambdas: bool
    most_errors: float = math.inf


STRICT = Policy(
    wrap_negative=False, same_value="error", returned="error", lambdas=False, most_errors=2000
)
FOREIGN = Policy(wrap_negative=True, same_value="advice", returned="advice", lambdas=True)
POLICIES = {"puzzle": STRICT, "foreign": FOREIGN}

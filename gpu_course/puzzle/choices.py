"""A choice of a prediction that stands for a number."""

from __future__ import annotations

from collections.abc import Sequence


def nearest_by_factor(choices: Sequence[float], value: float) -> float:
    """Returns the choice that a value is nearest to, as a factor.

    >>> nearest_by_factor((1, 10, 100), 30)
    10
    >>> nearest_by_factor((1, 10, 100), 40)
    100
    """
    return min(choices, key=lambda choice: max(choice / value, value / choice))

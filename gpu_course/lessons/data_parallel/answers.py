"""What a run's result says of a choice, for the predictions of lesson 22."""

from __future__ import annotations

from gpu_course.puzzle.choices import nearest_by_factor


def which_direction(off: float) -> str:
    """Returns the choice for how far the mean lies from the gradient, as a part of its length."""
    if off < 1e-9:
        return "the gradient of the batch"
    return "a quarter of it" if abs(off - 0.75) < 1e-9 else "in another direction"


def lower_or_higher(ratio: float) -> str:
    if 0.9 <= ratio <= 1.1:
        return "about the same"
    return "higher" if ratio > 1 else "lower"


def times_as_sharp(ratio: float) -> float:
    return nearest_by_factor((0.3, 1, 3, 10), ratio)

"""What a run's result says of a choice, for the predictions of lesson 29."""

from __future__ import annotations

from gpu_course.puzzle.choices import nearest_by_factor


def times_tp(found: float) -> int:
    return round(nearest_by_factor((2, 12, 50, 200), found))


def times_worst(found: float) -> int:
    return round(nearest_by_factor((2, 6, 25, 100), found))

"""What a run's result says of a choice, for the predictions of lesson 31."""

from __future__ import annotations

from gpu_course.puzzle.choices import nearest_by_factor


def twins_apart(found: float) -> int:
    return round(nearest_by_factor((2, 9, 29, 60), found))


def failures_with_room(found: float) -> int:
    return round(nearest_by_factor((8, 80, 300, 700), found))

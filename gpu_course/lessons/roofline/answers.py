"""What a run's result says of a choice, for the predictions of lesson 10."""

from __future__ import annotations

from gpu_course.puzzle.choices import nearest_by_factor


def power_of_ten(ridge: float) -> float:
    return nearest_by_factor((3, 30, 300, 3000), ridge)

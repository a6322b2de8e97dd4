"""What a run's result says of a choice, for the predictions of lesson 13."""

from __future__ import annotations

from gpu_course.puzzle.choices import nearest_by_factor


def nearest_gigabytes(gigabytes: float) -> float:
    return nearest_by_factor((0.13, 1.1, 17, 140), gigabytes)

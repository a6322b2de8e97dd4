"""What a run's result says of a choice, for the predictions of lesson 11."""

from __future__ import annotations

from gpu_course.puzzle.choices import nearest_by_factor


def in_billions(parameters: float) -> float:
    return nearest_by_factor((13, 47, 56), parameters / 1e9)


def near_ratio(ratio: float) -> float:
    return nearest_by_factor((1.1, 1.5, 2.2, 4.0), ratio)

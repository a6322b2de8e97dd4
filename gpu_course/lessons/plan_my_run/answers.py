"""What a run's result says of a choice, for the predictions of lesson 30."""

from __future__ import annotations

from gpu_course.puzzle.choices import nearest_by_factor


def layouts(found: float) -> int:
    return round(nearest_by_factor((50, 1_000, 13_000, 1_000_000), found))


def multiply_adds(found: float) -> int:
    return round(nearest_by_factor((1, 30, 110, 1_000), found))


def times_faster(found: float) -> int:
    return round(nearest_by_factor((2, 13, 100), found))


def milliseconds(found: float) -> float:
    return nearest_by_factor((0.05, 0.5, 5.0), found)

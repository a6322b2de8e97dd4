"""What a run's result says of a choice, for the predictions of lesson 09."""

from __future__ import annotations

from gpu_course.puzzle.choices import nearest_by_factor


def power_of_three(events: float) -> float:
    return nearest_by_factor((1, 3, 9, 27), events)


def power_of_four(calls: float) -> float:
    return nearest_by_factor((1, 4, 16, 64), calls)


def whole_multiple(times: float) -> float:
    return nearest_by_factor((1, 2, 3, 4), times)

"""What a run's result says of a choice, for the predictions of lesson 33."""

from __future__ import annotations

from gpu_course.puzzle.choices import nearest_by_factor


def percent_computing(found: float) -> str:
    return f"{round(nearest_by_factor((2, 10, 40, 80), 100 * found))} %"


def times_as_far(found: float) -> int:
    return round(nearest_by_factor((0.7, 1.3, 7, 20), found))


def percent_more(found: float) -> str:
    return f"{round(nearest_by_factor((3, 20, 50, 100), found))} %"


def percent_of_tokens(found: float) -> str:
    return f"{round(nearest_by_factor((16, 35, 69, 95), found))} %"

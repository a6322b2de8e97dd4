"""What a run's result says of a choice, for the predictions of lesson 07."""

from __future__ import annotations

from gpu_course.puzzle.choices import nearest_by_factor


def instructions(number: float) -> str:
    return f"about {nearest_by_factor((70, 250, 700, 2000), number):,}"


def of_one_line(number: float) -> float:
    return nearest_by_factor((3, 9, 27), number)

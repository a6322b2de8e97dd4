"""What a run's result says of a choice, for the predictions of lesson 12."""

from __future__ import annotations

from gpu_course.puzzle.choices import nearest_by_factor


def bytes_for_each(found: float) -> float:
    return nearest_by_factor((4, 8, 12, 16), found)


def per_cent(found: float) -> float:
    return nearest_by_factor((60, 80, 95, 99.8), found)

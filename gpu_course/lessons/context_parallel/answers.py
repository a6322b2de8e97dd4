"""What a run's result says of a choice, for the predictions of lesson 25."""

from __future__ import annotations

from gpu_course.puzzle.choices import nearest_by_factor


def tokens(found: float) -> int:
    return round(nearest_by_factor((2_000, 8_000, 25_000, 130_000), found))


def percent(share: float) -> int:
    """Returns the choice in per cent that a share of 1 is nearest to."""
    return round(nearest_by_factor((1, 7, 25, 50), 100 * share))


def memory(times: float) -> str:
    said = {1: "as much as before", 2: "twice as much", 8: "8 times as much"}
    return said[round(nearest_by_factor((1, 2, 8), times))]

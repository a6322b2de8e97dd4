"""What a run's result says of a choice, for the predictions of lesson 14."""

from __future__ import annotations

from gpu_course.puzzle.choices import nearest_by_factor

_PARTS = {0.01: "a hundredth", 0.1: "a tenth", 1.0: "as much", 10.0: "ten times"}
_BYTES = {4e3: "4 kB", 4e4: "40 kB", 4e5: "400 kB", 4e6: "4 MB"}


def share_in_percent(percent: float) -> float:
    return nearest_by_factor((0.3, 3, 30, 100), percent)


def part_of_the_weights(ratio: float) -> str:
    return _PARTS[nearest_by_factor(tuple(_PARTS), ratio)]


def bytes_missed(missed: float) -> str:
    return _BYTES[nearest_by_factor(tuple(_BYTES), missed)]


def empty_in_percent(percent: float) -> float:
    return nearest_by_factor((5, 20, 50, 90), percent)

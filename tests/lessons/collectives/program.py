"""What the program that lesson 21 prints for a cluster is to return."""

from __future__ import annotations

from tests.course.programs import RANKS


def right(rank: int) -> list[float]:
    """The sum of what all ranks hold, on each of them."""
    return [float(RANKS * k) for k in range(8)]

"""What a run's result says of a choice, for the predictions of lesson 23."""

from __future__ import annotations


def whole(times: float) -> int:
    return round(times)

"""What a run's result says of a choice, for the predictions of lesson 24."""

from __future__ import annotations


def how_much_more(ratio: float) -> str:
    said = {0.5: "half as much", 1.1: "a little more", 2.0: "twice as much"}
    return said[min(said, key=lambda each: abs(each - ratio))]


def times_as_many_bytes(ratio: float) -> int:
    return min((20, 200, 2_000, 20_000), key=lambda each: abs(each - ratio))

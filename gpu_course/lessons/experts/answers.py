"""What a run's result says of a choice, for the predictions of lesson 28."""

from __future__ import annotations


def how_many_more(ratio: float) -> str:
    """Returns the choice that is nearest to so many times as many."""
    said = {1 / 16: "a sixteenth", 1.0: "as many", 4 / 3: "a third more", 16.0: "16 times"}
    return said[min(said, key=lambda each: abs(each - ratio))]


def percent_over(over: float) -> str:
    """Returns the choice that is nearest to how far the most loaded expert is over the mean."""
    said = {0.03: "3 %", 0.15: "15 %", 0.65: "65 %", 3.0: "300 %"}
    return said[min(said, key=lambda each: abs(each - over))]


def loss_beside(difference: float) -> str:
    """Returns in words what a change of the loss comes to, in parts of it."""
    if abs(difference) < 0.01:
        return "no worse"
    return "clearly worse" if difference > 0 else "clearly better"

"""What a run's result says of a choice, for the predictions of lesson 16."""

from __future__ import annotations


def beside_a_quarter(share: float) -> str:
    return "1/4" if share == 1 / 4 else "less than 1/4" if share < 1 / 4 else "more than 1/4"

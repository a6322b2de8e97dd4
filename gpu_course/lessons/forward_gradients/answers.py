"""What a run's result says of a choice, for the predictions of lesson 19."""

from __future__ import annotations


def variance(off: float) -> str:
    """Returns the choice for how far an estimate is off, as a part of the gradient's length."""
    return "zero" if off < 1e-4 else "half of that" if off < 0.5 else "as with independent ones"

"""What a run's result says of a choice, for the predictions of lesson 20."""

from __future__ import annotations

from collections.abc import Sequence


def share_said(share: float) -> str:
    return "over 80 %" if share > 0.8 else "about 50 %" if share > 0.3 else "about 12 %"


def which_move(moving: Sequence[str]) -> str:
    """Returns which of the two matrices have a gradient that is not zero."""
    return {0: "neither", 1: "".join(moving), 2: "both"}[len(moving)]


def where_the_loss_ends(losses: Sequence[float]) -> str:
    """Returns where a loss ends, from what it was at the start, is now, and is with float32."""
    start, end, exact = losses
    if end > 2 * start:
        return "far above the start"
    if end > 0.9 * start:
        return "what it was at the start"
    return "a little higher" if end > 1.02 * exact else "as with float32"


def needs_a_power(trained: Sequence[bool]) -> str:
    """Which moment needs a power, from whether a run with it on the first, second, both trained."""
    first, second, _ = trained
    return "the second" if second and not first else "the first" if first else "both"

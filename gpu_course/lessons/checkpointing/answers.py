"""What a run's result says of a choice, for the predictions of lesson 17."""

from __future__ import annotations

from collections.abc import Mapping

_LEFT = {
    "gradients": "the gradients",
    "buffers": "BatchNorm's statistics",
    "next_random": "the next random numbers",
}
"""What a run leaves behind, as the question calls it."""


def recorded_in(graph: Mapping[str, bool]) -> str:
    """Returns where a graph is recorded, from whether it is in "forward" and in "backward"."""
    return {
        (True, True): "in both",
        (True, False): "in forward",
        (False, True): "in backward",
        (False, False): "in neither",
    }[graph["forward"], graph["backward"]]


def what_differs(equal: Mapping[str, bool]) -> str:
    """Returns what two runs leave behind that is not equal."""
    return (
        " and ".join(_LEFT[name] for name, is_equal in equal.items() if not is_equal) or "nothing"
    )

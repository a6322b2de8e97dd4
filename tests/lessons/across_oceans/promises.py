"""What the stubs of lesson 33 promise of their input, and what holds it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from gpu_course.lessons.across_oceans.bytes_saved import counted as bytes_counted
from gpu_course.puzzle.specification import Values
from tests.course.puzzles.promises import Promise, everywhere


def _all_finite(given: Values) -> bool:
    parts = [part for name in ("x", "y") for part in given[name].parts]
    return all(np.isfinite(part).all() for part in (*parts, given["weights"]))


def _batches(given: Values) -> int:
    return len(given["x"].parts[0])


def _exact(given: Values) -> bool:
    """Whether the goal is reached without anything left over."""
    said = given["arguments"]
    fewest = bytes_counted(**said)[2]
    if not isinstance(fewest, int) or fewest == 1:
        return False
    ranks, link = said["ranks"], said["link"]
    sent = Fraction(2 * (ranks - 1) * said["parameters"] * said["width"], ranks)
    meeting = 2 * (ranks - 1) * Fraction(link["latency_s"]) + sent / Fraction(link["bytes_per_s"])
    work = fewest * Fraction(said["step_s"])
    return not said["block"] and work / (work + meeting) == Fraction(said["goal"])


PROMISES: dict[str, tuple[Promise, ...]] = {
    "diloco": (
        Promise("or none", lambda given: not _batches(given)),
        Promise(
            "Where batches run out in a round",
            lambda given: bool(_batches(given) % given["h"]),
        ),
        Promise("0 for none", lambda given: given["momentum"] == 0),
        Promise(
            "ranks may have different numbers of rows",
            lambda given: len({part.shape for part in given["x"].parts}) > 1,
        ),
        everywhere("all numbers are finite", _all_finite),
    ),
    "bytes_saved": (
        Promise("the last block may have fewer", lambda given: given["arguments"]["block"] == 64),
        Promise("0 for no scales", lambda given: given["arguments"]["block"] == 0),
        Promise("One rank sends nothing", lambda given: given["arguments"]["ranks"] == 1),
        Promise("at least the share goal", _exact),
        Promise("where goal is NaN", lambda given: math.isnan(given["arguments"]["goal"])),
        Promise("not between 0 and 1", lambda given: given["arguments"]["goal"] == 1),
        Promise(
            "the link carries nothing", lambda given: not given["arguments"]["link"]["bytes_per_s"]
        ),
        Promise("where ranks or h is below 1", lambda given: given["arguments"]["h"] < 1),
    ),
}

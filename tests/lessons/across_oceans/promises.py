"""What the stubs of lesson 33 promise of their input, and what holds it."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from gpu_course.lessons.across_oceans.bytes_saved import counted as bytes_counted
from gpu_course.lessons.across_oceans.model_size_overhead import counted as size_counted
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


def _said(name: str, held: Callable[[Any], bool]) -> Callable[[Values], bool]:
    """Returns whether an argument of the call is of a kind."""
    return lambda given: held(given["arguments"][name])


def _stages(given: Values) -> list[dict[str, float]]:
    return list(given["arguments"]["stages"])


def _unreached(given: Values) -> bool:
    """Whether one factor is given, above 0, and yet nothing is enough."""
    said = [given["arguments"][name] for name in ("k_n", "k_d")]
    known = [k for k in said if k is not None]
    return (
        len(known) == 1
        and 0 < known[0] < 1
        and isinstance(size_counted(**given["arguments"])[0], str)
    )


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
        Promise("the last block may have fewer", _said("block", lambda b: b == 64)),
        Promise("0 for no scales", _said("block", lambda b: b == 0)),
        Promise("One rank sends nothing", _said("ranks", lambda n: n == 1)),
        Promise("at least the share goal", _exact),
        Promise("where goal is NaN", lambda given: math.isnan(given["arguments"]["goal"])),
        Promise("not between 0 and 1", _said("goal", lambda g: g == 1)),
        Promise(
            "the link carries nothing", lambda given: not given["arguments"]["link"]["bytes_per_s"]
        ),
        Promise("where ranks or h is below 1", lambda given: given["arguments"]["h"] < 1),
    ),
    "model_size_overhead": (
        Promise("None where k_d is given", _said("k_n", lambda k: k is None)),
        Promise("None where k_n is given", _said("k_d", lambda k: k is None)),
        Promise("a factor is NaN", _said("k_n", lambda k: isinstance(k, float) and k != k)),
        Promise("infinite, 0 or below", _said("k_n", lambda k: k == math.inf)),
        Promise("0 or below", _said("k_d", lambda k: isinstance(k, float) and k < 0)),
        Promise(
            "both or none of them are given",
            lambda given: given["arguments"]["k_n"] is given["arguments"]["k_d"] is None,
        ),
        Promise("that loss is never reached", _unreached),
        everywhere(
            "Every number of law, and flop, is above 0",
            lambda given: min(*given["arguments"]["law"].values(), given["arguments"]["flop"]) > 0,
        ),
    ),
    "attention_share": (
        Promise(
            "heads * head_size need not be hidden",
            lambda given: (
                given["arguments"]["heads"] * given["arguments"]["head_size"]
                != given["arguments"]["hidden"]
            ),
        ),
        Promise("or so many experts", _said("top_k", lambda k: k != 1)),
        Promise(
            "kv_heads don't divide heads",
            lambda given: bool(given["arguments"]["heads"] % given["arguments"]["kv_heads"]),
        ),
        Promise("where sequence is below 1", _said("sequence", lambda s: s == 0)),
        everywhere(
            "Every other number is 1 or more",
            lambda given: all(
                value >= 1
                for name, value in given["arguments"].items()
                if name not in ("sequence", "gated", "causal")
            ),
        ),
    ),
    "run_cost": (
        Promise("or none", lambda given: not _stages(given)),
        Promise("where a run like it was measured", lambda given: "gpu_hours" in _stages(given)[0]),
        Promise("a pair isn't in order", _said("price", lambda p: p[0] > p[1])),
        Promise("NaN is neither", _said("mfu", lambda p: p[0] != p[0])),
        Promise("not above 0", _said("goodput", lambda p: p[0] == 0)),
        Promise("mfu or goodput is above 1", _said("mfu", lambda p: p[1] > 1)),
        Promise("pue or gpus is below 1", _said("gpus", lambda n: n == 0)),
        Promise(
            "a number of a stage is below 0",
            lambda given: any(value < 0 for stage in _stages(given) for value in stage.values()),
        ),
        everywhere(
            "All else is finite",
            lambda given: all(
                math.isfinite(value) for stage in _stages(given) for value in stage.values()
            ),
        ),
    ),
}

"""Puzzle `launch_overhead`: what is left of the bandwidth between launches, gaps and barriers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gpu_course.lessons.decoding.costs import ways_of
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

_BANDWIDTH, _LAUNCH = 1e9, 5e-6
"""A small card: 1 GB/s, so that a microsecond is 1,000 bytes."""
_VISIBLE: Values = {
    "kernels": [3_000, 500, 18_000, 0, 1_500, 4_000, 900, 26_000, 2_000, 700],
    "bandwidth": _BANDWIDTH,
    "launch_s": _LAUNCH,
    "gap_s": 1.2e-6,
    "barrier_s": 1.9e-6,
    "ahead": 1_700,
}
"""Here every way of the diagnoses below comes to shares of its own. Some parts have fewer bytes
than fit, and some more than there is time for."""


def _case(name: str, kernels: int, visible: bool = False, **sizes: int) -> Case:
    return sized(name, visible=visible, kernels=kernels, **sizes)


def _random_case(rng: np.random.Generator) -> Case:
    return _case("a token drawn at random", int(rng.integers(4, 40)), large=9, small=1)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    if case.visible:
        return {**_VISIBLE, "kernels": list(_VISIBLE["kernels"])}
    s = case.sizes
    kernels = [_moved(rng, s) for _ in range(s["kernels"])]
    barrier_s = float(rng.uniform(0.5, 3)) * 1e-6
    bandwidth = _BANDWIDTH * float(rng.uniform(0.5, 2))
    full = barrier_s * bandwidth
    ahead = int(full * float(rng.uniform(0.3, 2)))
    if s.get("no_room"):
        ahead = 0
    if s.get("room"):
        ahead = 10 * int(full)
    return {
        "kernels": kernels,
        "bandwidth": bandwidth,
        "launch_s": _LAUNCH * float(rng.uniform(0.5, 2)),
        "gap_s": float(rng.uniform(0.3, 3)) * 1e-6,
        "barrier_s": 0.0 if s.get("free") else barrier_s,
        "ahead": ahead,
    }


def _moved(rng: np.random.Generator, sizes: Mapping[str, int]) -> int:
    """Bytes of a kernel that is longer than a launch, or much shorter."""
    large, small = sizes.get("large", 0), sizes.get("small", 0)
    if not large + small:
        return 0
    long = int(rng.integers(large + small)) < large
    return int(rng.uniform(15_000, 60_000) if long else rng.uniform(0, 1_500))


def counted(
    kernels: list[int],
    bandwidth: float,
    launch_s: float,
    gap_s: float,
    barrier_s: float,
    ahead: int,
) -> tuple[float, float, float]:
    """Returns the share of the bandwidth in each of the three ways."""
    times = ways_of(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead)
    one, two, three = (sum(kernels) / bandwidth / each if each else 0.0 for each in times)
    return one, two, three


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": counted(**inputs)}


LAUNCH_OVERHEAD = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", 10, visible=True),
        _case("small kernels", 30, small=1),
        _case("large kernels", 8, large=1),
        _case("both kinds", 25, large=2, small=1),
        _case("a small one first and large ones behind", 12, large=11, small=1),
        _case("no room on the chip", 9, large=1, small=1, no_room=1),
        _case("room for more than there is time", 9, large=1, room=1),
        _case("barriers that take no time", 6, large=1, small=1, free=1),
        _case("one kernel", 1, large=1),
        _case("kernels without bytes", 3),
        _case("no kernel", 0),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-9, 1e-15),
)

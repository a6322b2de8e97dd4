"""Puzzle `time_floor`: how soon a sequence of kernels can be over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

Kernels = Sequence[tuple[int, int]]

_VISIBLE = [
    (1_000_000, 50_000),
    (2_000_000, 300_000),
    (40_000_000, 500_000),
    (3_000_000, 6_000_000),
    (1_000_000, 200_000),
    (500_000, 100_000),
    (1_500_000, 50_000),
    (25_000_000, 700_000),
]
"""Here every way of the diagnoses below comes to a time of its own."""
_PEAK, _BANDWIDTH, _LAUNCH = 1e12, 1e11, 1e-5
"""A small machine with round numbers: 1 TFLOP/s, 100 GB/s, 10 microseconds for a launch."""


def _case(
    name: str, kernels: int, large: int, small: int, visible: bool = False, idle: int = 0
) -> Case:
    sizes = {"kernels": kernels, "large": large, "small": small}
    return sized(name, visible=visible, **(sizes | {"idle": idle} if idle else sizes))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    if case.visible:
        kernels = list(_VISIBLE)
        return {
            "kernels": kernels, "peak": _PEAK, "bandwidth": _BANDWIDTH, "launch_s": _LAUNCH
        }  # fmt: skip
    large, small = case.sizes["large"], case.sizes["small"]
    kinds = ["large"] * large + ["small"] * small
    kinds += ["either"] * (case.sizes["kernels"] - large - small)
    rng.shuffle(kinds)
    kernels = [_kernel(rng, kind) for kind in kinds]
    if case.sizes.get("idle"):
        # The last has nothing to do, and is over no sooner than it is launched.
        kernels = [
            (flop * (k % 3 != 0), moved * (k % 3 != 1)) for k, (flop, moved) in enumerate(kernels)
        ]
        kernels[1], kernels[-1] = (0, 0), (0, 0)
    return {
        "kernels": kernels,
        "peak": _PEAK * float(rng.uniform(0.5, 2)),
        "bandwidth": _BANDWIDTH * float(rng.uniform(0.5, 2)),
        "launch_s": _LAUNCH * float(rng.uniform(0.5, 2)),
    }


def _kernel(rng: np.random.Generator, kind: str) -> tuple[int, int]:
    """FLOP and bytes of a kernel whose work takes much longer than a launch, or much shorter."""
    if kind == "either":
        kind = "large" if rng.integers(2) else "small"
    factor = 8 if kind == "large" else 0.2
    long, short = factor * rng.uniform(0.7, 1.4), factor * rng.uniform(0.05, 0.4)
    in_flop, in_bytes = (long, short) if rng.integers(2) else (short, long)
    return int(in_flop * _LAUNCH * _PEAK), int(in_bytes * _LAUNCH * _BANDWIDTH)


def _random_case(rng: np.random.Generator) -> Case:
    large, small = (int(n) for n in rng.integers(1, 6, size=2))
    more = int(rng.integers(2, 20))
    return _case("kernels drawn at random", large + small + more, large, small)


def _works(kernels: Kernels, peak: float, bandwidth: float) -> list[float]:
    return [max(flop / peak, moved / bandwidth) for flop, moved in kernels]


def _end(works: Sequence[float], launch_s: float, first: float = 0.0) -> float:
    """When the last kernel ends; the first is issued after `first` seconds less a launch."""
    issued, end = first, 0.0
    for work in works:
        issued += launch_s
        end = max(end, issued) + work
    return end


def _reference(inputs: Values, case: Case) -> Values:
    works = _works(inputs["kernels"], inputs["peak"], inputs["bandwidth"])
    return {"result": _end(works, inputs["launch_s"])}


TIME_FLOOR = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", 8, 3, 5, visible=True),
        _case("one small kernel", 1, 0, 1),
        _case("one large kernel", 1, 1, 0),
        _case("twelve small ones", 12, 0, 12),
        _case("six large ones", 6, 6, 0),
        _case("thirty of both kinds", 30, 10, 20),
        _case("no kernel", 0, 0, 0),
        _case("some have no FLOP, or no bytes, or neither", 9, 3, 6, idle=1),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-9, 1e-15),
)

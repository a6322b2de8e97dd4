"""Puzzle `bytes_saved`: what crosses in a step, and how rarely ranks may meet on a slow link."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from gpu_course.lessons.across_oceans.pieces import called, ring_bytes
from gpu_course.puzzle.harness.refusing import REFUSED
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

NAMES = ("dp", "diloco", "fewest")

VISIBLE: dict[str, Any] = {
    "parameters": 10_000_000,
    "ranks": 4,
    "h": 100,
    "width": 1,
    "block": 1024,
    "link": {"latency_s": 0.125, "bytes_per_s": 4_000_000},
    "step_s": 0.5,
    "goal": 0.9,
}
"""Here every way of the diagnoses comes to numbers of its own."""

CASES: dict[str, dict[str, Any]] = {
    "visible example": {},
    "float32 outer gradients, no scales": {"width": 4, "block": 0},
    "a last block that is not full": {"parameters": 10_001, "block": 64, "goal": 0.5},
    "five numbers, half a byte a second": {
        "parameters": 5,
        "block": 1000,
        "link": {"latency_s": 0.125, "bytes_per_s": 0.5},
    },
    # All of these are exact in binary, in whatever order: 8 steps of 1 s beside 8 s.
    "exactly at the goal": {
        "parameters": 4096,
        "ranks": 2,
        "width": 2,
        "block": 0,
        "link": {"latency_s": 2.0, "bytes_per_s": 2048},
        "step_s": 1.0,
        "goal": 0.5,
    },
    "ten billion parameters between 14 sites": {
        "parameters": 10_000_000_000,
        "ranks": 14,
        "link": {"latency_s": 0.1, "bytes_per_s": 50_000_000},
        "step_s": 22.8,
        "goal": 0.83,
    },
    "a fast link": {"link": {"latency_s": 0.0, "bytes_per_s": 400e9}, "step_s": 5.0},
    "a link without latency": {"link": {"latency_s": 0.0, "bytes_per_s": 9_000_000}},
    "one step in a round": {"h": 1, "width": 4, "block": 0},
    "one rank": {"ranks": 1},
    "a goal of 1": {"goal": 1.0},
    "a goal of 0": {"goal": 0.0},
    "a goal that is NaN": {"goal": math.nan},
    "a link that carries nothing": {"link": {"latency_s": 0.125, "bytes_per_s": 0}},
    "no rank": {"ranks": 0},
    "no inner step": {"h": 0},
}
"""What differs from the visible example."""


def outer_bytes(parameters: int, width: int, block: int) -> int:
    """Returns the bytes of an outer gradient: its numbers, and a float32 scale for each block.

    >>> outer_bytes(10_000, 1, 1024)
    10040
    """
    return parameters * width + (4 * -(-parameters // block) if block else 0)


def counted(
    parameters: int,
    ranks: int,
    h: int,
    width: int,
    block: int,
    link: dict[str, float],
    step_s: float,
    goal: float,
) -> tuple[Any, ...]:
    """Returns (dp, diloco, fewest), or the puzzle's word where there are none."""
    if not (0 < goal < 1 and link["bytes_per_s"] > 0 and ranks >= 1 and h >= 1):
        return (REFUSED,) * 3
    outer = ring_bytes(ranks, outer_bytes(parameters, width, block))
    latency, rate = (Fraction(link[name]) for name in ("latency_s", "bytes_per_s"))
    meeting = 2 * (ranks - 1) * latency + outer / rate
    # h steps of work: h step / (h step + meeting) >= goal
    least = Fraction(goal) * meeting / (Fraction(step_s) * (1 - Fraction(goal)))
    return float(ring_bytes(ranks, 4 * parameters)), float(outer / h), max(1, math.ceil(least))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    if case.sizes["number"] < 0:
        given = {
            "parameters": int(rng.integers(1000, 10**9)),
            "ranks": int(rng.integers(2, 40)),
            "h": int(rng.integers(2, 500)),
            "width": int(rng.choice([1, 2])),
            "block": int(rng.integers(32, 3000)),
            "link": {
                "latency_s": float(rng.uniform(0.01, 0.3)),
                "bytes_per_s": float(rng.uniform(1e6, 1e9)),
            },
            "step_s": float(rng.uniform(0.1, 20)),
            "goal": float(rng.uniform(0.3, 0.97)),
        }
    else:
        given = VISIBLE | list(CASES.values())[case.sizes["number"]]
    return {"function": "bytes_saved", "names": NAMES, "arguments": given}


def _reference(inputs: Values, case: Case) -> Values:
    return dict(zip(NAMES, counted(**inputs["arguments"]), strict=True))


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if expected["dp"] == REFUSED:
        return "not-refused"
    if got.get("dp") == REFUSED:
        return "refused"
    return None


BYTES_SAVED = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.puzzle.harness.refusing_once",
    cases=tuple(Case(name, {"number": n}, n == 0) for n, name in enumerate(CASES)),
    random_case=lambda rng: Case("numbers drawn at random", {"number": -1}),
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    tolerance=(1e-12, 0.0),
    call=lambda inputs: called("bytes_saved", inputs["arguments"]),
)

"""Puzzle `run_cost`: GPU-hours, days, energy and money of a run, each from a least to a most."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_course.lessons.across_oceans.pieces import called
from gpu_course.puzzle.harness.refusing import REFUSED
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

NAMES = ("gpu_hours", "days", "kwh", "dollars")
Pair = tuple[float, float]

VISIBLE: dict[str, Any] = {
    "stages": [
        {"tokens": 2e11, "flop_per_token": 5e10},
        {"gpu_hours": 700.0},
        {"tokens": 1e10, "flop_per_token": 9e10},
    ],
    "gpus": 64,
    "peak": 1e15,
    "mfu": (0.3, 0.45),
    "goodput": (0.8, 0.95),
    "watts": (600.0, 750.0),
    "pue": 1.25,
    "price": (1.5, 4.0),
}
"""Here every way of the diagnoses comes to numbers of its own."""

DEEPSEEK_V3: dict[str, Any] = {
    "stages": [{"gpu_hours": 2_664_000.0}, {"gpu_hours": 119_000.0}, {"gpu_hours": 5_000.0}],
    "gpus": 2048,
    "price": (2.0, 2.0),
}
"""Source: DeepSeek-AI 2024, arXiv 2412.19437, Table 1: hours were measured, the price assumed."""

CASES: dict[str, dict[str, Any]] = {
    "visible example": {},
    "DeepSeek-V3's three stages": DEEPSEEK_V3,
    "one stage, counted": {"stages": [{"tokens": 1.5e13, "flop_per_token": 6 * 4.05e11}]},
    "one stage, measured, after a stage of no tokens": {
        "stages": [{"tokens": 0.0, "flop_per_token": 1e11}, {"gpu_hours": 12.5}],
        "gpus": 1,
    },
    "all that a GPU can do, and no spread": {
        "mfu": (1.0, 1.0), "goodput": (1.0, 1.0), "watts": (700.0, 700.0), "pue": 1.0,
        "price": (2.5, 2.5),
    },
    "only the price is uncertain": {
        "mfu": (0.4, 0.4), "goodput": (0.9, 0.9), "watts": (700.0, 700.0),
    },
    "no stage": {"stages": []},
    "an MFU above 1": {"mfu": (0.4, 1.5)},
    "a goodput above 1": {"goodput": (0.9, 1.5)},
    "a goodput of 0": {"goodput": (0.0, 0.9)},
    "an MFU that is NaN": {"mfu": (math.nan, 0.4)},
    "a pair the wrong way round": {"price": (4.0, 1.5)},
    "a PUE below 1": {"pue": 0.9},
    "no GPU": {"gpus": 0},
    "a stage below 0": {"stages": [{"tokens": 1e9, "flop_per_token": -0.5}]},
}  # fmt: skip
"""What differs from the visible example."""


def _in_order(pair: Sequence[float], most: float = math.inf) -> bool:
    return 0 < pair[0] <= pair[1] <= most and math.isfinite(pair[1])


def counted(
    stages: list[dict[str, float]],
    gpus: int,
    peak: float,
    mfu: Pair,
    goodput: Pair,
    watts: Pair,
    pue: float,
    price: Pair,
) -> tuple[Any, ...]:
    """Returns a (least, most) for each of NAMES, or the puzzle's word where there are none."""
    fine = _in_order(mfu, 1) and _in_order(goodput, 1) and _in_order(watts) and _in_order(price)
    numbers = [value for stage in stages for value in stage.values()]
    if not fine or pue < 1 or gpus < 1 or any(value < 0 for value in numbers):
        return (REFUSED,) * len(NAMES)
    measured = sum(stage.get("gpu_hours", 0.0) for stage in stages)
    flop = sum(stage.get("tokens", 0.0) * stage.get("flop_per_token", 0.0) for stage in stages)
    hours = [
        measured + flop / (peak * share * useful) / 3600
        for share, useful in zip(mfu[::-1], goodput[::-1], strict=True)
    ]
    kwh = [h * w * pue / 1000 for h, w in zip(hours, watts, strict=True)]
    dollars = [h * p for h, p in zip(hours, price, strict=True)]
    return tuple(hours), tuple(h / gpus / 24 for h in hours), tuple(kwh), tuple(dollars)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    given = VISIBLE | list(CASES.values())[max(0, case.sizes["number"])]
    if case.sizes["number"] < 0:

        def pair(low: float, high: float) -> Pair:
            first, second = sorted(float(n) for n in rng.uniform(low, high, 2))
            return first, second

        given = {
            "stages": [
                {"gpu_hours": float(rng.uniform(10, 1e5))}
                if rng.integers(2)
                else {
                    "tokens": float(rng.uniform(1e10, 1e13)),
                    "flop_per_token": float(rng.uniform(1e9, 1e12)),
                }
                for _ in range(4)
            ],
            "gpus": int(rng.integers(8, 20_000)),
            "peak": float(rng.uniform(3e14, 2e15)),
            "mfu": pair(0.2, 0.6),
            "goodput": pair(0.6, 1.0),
            "watts": pair(300, 1200),
            "pue": float(rng.uniform(1.0, 1.6)),
            "price": pair(1, 12),
        }
    return {"function": "run_cost", "names": NAMES, "arguments": given}


def _reference(inputs: Values, case: Case) -> Values:
    return dict(zip(NAMES, counted(**inputs["arguments"]), strict=True))


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if expected["days"] == REFUSED:
        return "not-refused"
    if got.get("days") == REFUSED:
        return "refused"
    if _first_too_high(got) and not _first_too_high(expected):
        return "turned-round"
    return None


def _first_too_high(got: Values) -> bool:
    pairs = [got.get(name) for name in NAMES]
    return any(isinstance(p, tuple | list) and len(p) == 2 and p[0] > p[1] for p in pairs)


RUN_COST = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.puzzle.harness.refusing_once",
    cases=tuple(Case(name, {"number": n}, n == 0) for n, name in enumerate(CASES)),
    random_case=lambda rng: Case("a run drawn at random", {"number": -1}),
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    tolerance=(1e-12, 0.0),
    call=lambda inputs: called("run_cost", inputs["arguments"]),
)

"""Puzzle `optimal_interval`: Young's interval, Daly's, and the share of time that is useful."""

from __future__ import annotations

import math

import numpy as np

from gpu_course.planner.goodput import useful_share
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

HOUR_S, DAY_S = 3600.0, 86_400.0

GIVEN: dict[str, tuple[int, float, float, float]] = {
    "visible example": (64, 64 * 8 * HOUR_S, 60.0, 300.0),
    "one machine": (1, 20 * DAY_S, 240.0, 900.0),
    "2,048 machines": (2048, 2048 * 3.0 * HOUR_S, 40.0, 600.0),
    "a write of 30 milliseconds": (128, 128 * 12 * HOUR_S, 0.03, 1200.0),
    "the write takes a fifth of the time between failures": (10, 50_000.0, 1000.0, 250.0),
    "the write takes as long as twice the time between failures": (8, 8 * 512.0, 1024.0, 64.0),
    "the write takes longer than that": (8, 4000.0, 1700.0, 90.0),
    "the write takes two thousand times as long": (100, 6000.0, 120_000.0, 600.0),
    "the recovery takes longer than the time between failures": (1000, 3.0e6, 200.0, 7000.0),
    "no recovery at all": (256, 256 * 4 * HOUR_S, 90.0, 0.0),
    "no machine ever fails": (16, math.inf, 60.0, 300.0),
}
"""Case -> nodes, seconds between failures of one, of a write and of a recovery."""
NAMES = tuple(GIVEN)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    if case.sizes["given"] >= 0:
        given = GIVEN[NAMES[case.sizes["given"]]]
    else:
        nodes, mtbf_s = int(rng.integers(2, 3000)), float(rng.uniform(1, 40)) * HOUR_S
        write_s, recover_s = float(rng.uniform(5, 900)), float(rng.uniform(60, 3000))
        given = (nodes, nodes * mtbf_s, write_s, recover_s)
    return dict(zip(("nodes", "node_mtbf_s", "write_s", "recover_s"), given, strict=True))


def _reference(inputs: Values, case: Case) -> Values:
    mtbf_s, write_s = inputs["node_mtbf_s"] / inputs["nodes"], inputs["write_s"]
    if math.isinf(mtbf_s):
        return {"result": (math.inf, math.inf, 1.0)}
    young_s = math.sqrt(2.0 * write_s * mtbf_s)
    root = math.sqrt(write_s / (2.0 * mtbf_s))
    daly_s = young_s * (1 + root / 3 + root**2 / 9) - write_s if root < 1 else mtbf_s
    return {"result": (young_s, daly_s, useful_share(mtbf_s, daly_s, write_s, inputs["recover_s"]))}


OPTIMAL_INTERVAL = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=tuple(Case(name, {"given": k}, k == 0) for k, name in enumerate(NAMES)),
    random_case=lambda rng: Case("a run drawn at random", {"given": -1}),
    inputs=_inputs,
    reference=_reference,
    # Whoever looks for the least value step by step finds it to eight digits: it is flat there.
    tolerance=(1e-6, 1e-300),
)

"""Puzzle `fit_alpha_beta`: what a message costs, from the times of a ring's all-reduces."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

Runs = Sequence[tuple[int, int, float]]
Fitted = tuple[float, float]

_VISIBLE = [
    (4, 1_000, 88e-6),
    (4, 100_000, 200e-6),
    (4, 4_000_000, 6.9e-3),
    (8, 2_000, 160e-6),
    (8, 3_000_000, 5.4e-3),
]


def _case(name: str, runs: int, groups: int, noise: int, visible: bool = False) -> Case:
    return sized(name, visible=visible, runs=runs, groups=groups, noise=noise)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    if case.visible:
        return {"runs": list(_VISIBLE)}
    alpha, rate = 10 ** rng.uniform(-6, -4.3), 10 ** rng.uniform(8.5, 11)
    groups = rng.choice([2, 3, 4, 6, 8, 16, 64], case.sizes["groups"], replace=False)
    # From a tenth of what alpha is worth to a hundred times of it, in each group.
    worth = alpha * rate
    made = []
    for number in range(case.sizes["runs"]):
        ranks = int(groups[number % len(groups)])
        reach = (number // len(groups) + rng.uniform(0.2, 0.8)) / -(
            -case.sizes["runs"] // len(groups)
        )
        size = int(ranks * worth * 10 ** (3 * reach - 1))
        off = 1 + case.sizes["noise"] / 100 * rng.uniform(-1, 1)
        made.append((ranks, size, float(_seconds(ranks, size, alpha, rate) * off)))
    rng.shuffle(made)
    return {"runs": [(int(n), int(s), float(t)) for n, s, t in made]}


def _seconds(ranks: int, size: float, alpha: float, rate: float) -> float:
    return 2 * (ranks - 1) * (alpha + size / ranks / rate)


def _random_case(rng: np.random.Generator) -> Case:
    groups = int(rng.integers(1, 4))
    return _case("runs drawn at random", int(rng.integers(6, 30)), groups, int(rng.integers(5, 15)))


def _solve(rows: Sequence[tuple[float, float, float]]) -> Fitted:
    """Returns alpha and the rate of the least squares of alpha a + beta b - t."""
    a, b, t = np.array(rows, np.float64).T
    scale = np.linalg.norm(a), np.linalg.norm(b)
    system = np.stack([a / scale[0], b / scale[1]], axis=1)
    alpha, beta = np.linalg.lstsq(system, t, rcond=None)[0] / scale
    return float(alpha), float(1 / beta) if beta else math.inf


def _steps(ranks: int, size: float) -> tuple[float, float]:
    return 2 * (ranks - 1), 2 * (ranks - 1) * size / ranks


def _weighed(
    runs: Runs, terms: Callable[[int, float], tuple[float, float]] = _steps, power: float = 1
) -> Fitted:
    """Returns the fit in which each run's error counts in proportion to its time ** -power."""
    rows = []
    for ranks, size, seconds in runs:
        a, b = terms(ranks, size)
        rows.append(tuple(each / seconds**power for each in (a, b, seconds)))
    return _solve(rows)


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": _weighed(inputs["runs"])}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    result = got["result"]
    return "two-numbers" if not isinstance(result, list | tuple) or len(result) != 2 else None


FIT_ALPHA_BETA = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", 5, 2, 0, visible=True),
        _case("two runs without noise", 2, 1, 0),
        _case("ten runs of one group", 10, 1, 8),
        _case("three groups without noise", 9, 3, 0),
        _case("three groups", 15, 3, 10),
        _case("thirty noisy runs", 30, 2, 15),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-6, 1e-18),
    diagnose=_diagnose,
)

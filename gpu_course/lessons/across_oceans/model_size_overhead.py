"""Puzzle `model_size_overhead`: what a model smaller than compute-optimal costs, by Harm's law."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpu_course.lessons.across_oceans.pieces import called
from gpu_course.lessons.across_oceans.scaling import optimum, tokens_factor
from gpu_course.puzzle.harness.refusing import REFUSED
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

Law = dict[str, float]
"""E, A, B, alpha and beta by these names."""

NAMES = ("parameters", "tokens", "overhead")
CURVE: Law = {"E": 1.69, "A": 406.4, "B": 410.7, "alpha": 0.336, "beta": 0.283}
"""As its plotted curve and its table need them: 20 % at half the size, 188 % at a quarter."""
PRINTED: Law = CURVE | {"alpha": 0.32, "beta": 0.28}
"""As the post prints them."""
FEW: Law = {"E": 1.0, "A": 50.0, "B": 90.0, "alpha": 0.5, "beta": 0.25}
WALL: Law = {"E": 1.0, "A": 50.0, "B": 90.0, "alpha": 1.0, "beta": 1.0}
# By the printed exponents: the lesson asks for the others, and a message shows the law.
_HALF: dict[str, Any] = {"law": PRINTED, "flop": 1e23, "k_n": 0.5, "k_d": None}

CASES: dict[str, dict[str, Any]] = {
    "visible example": {},
    "30 % of the size": {"k_n": 0.3, "flop": 1e21},
    "a quarter of the size, other exponents": {"k_n": 0.25, "law": CURVE},
    "a model as large as the best": {"k_n": 1.0},
    "a model twice as large": {"k_n": 2.0},
    "a very large model": {"k_n": 1e9},
    "three times the tokens": {"k_n": None, "k_d": 3.0},
    "a tenth fewer tokens": {"k_n": None, "k_d": 0.9, "flop": 3e24},
    "all the tokens there could be": {"k_n": None, "k_d": 1e12},
    "another law, given the size": {"law": FEW, "flop": 1e9},
    "another law, given the tokens": {"law": FEW, "flop": 1e9, "k_n": None, "k_d": 5.0},
    "too small, whatever the tokens": {"k_n": 0.05},
    # Half of it is lost, and half was all that the tokens had left: exact in binary.
    "just too small": {"law": WALL, "k_n": 0.5},
    "too few tokens, whatever the size": {"k_n": None, "k_d": 0.05},
    "a size of 0": {"k_n": 0.0},
    "tokens below 0": {"k_n": None, "k_d": -2.0},
    "a size that is NaN": {"k_n": math.nan},
    "an infinite size": {"k_n": math.inf},
    "both are given": {"k_d": 3.0},
    "none is given": {"k_n": None},
}
"""What differs from half the size."""


def best(law: Law, flop: float) -> tuple[float, float]:
    """Returns the (parameters, tokens) with the least loss for 6 N D = flop.

    >>> [f"{n / 1e9:.4g}" for n in best(CURVE, 1e23)]
    ['18.73', '889.6']
    """
    return optimum(flop, *(law[name] for name in ("alpha", "beta", "A", "B")))


def counted(law: Law, flop: float, k_n: float | None, k_d: float | None) -> tuple[Any, ...]:
    """Returns (parameters, tokens, overhead), or the puzzle's word where there are none."""
    given = [k for k in (k_n, k_d) if k is not None]
    if len(given) != 1 or not (math.isfinite(given[0]) and given[0] > 0):
        return (REFUSED,) * 3
    if k_n is not None:
        k_d = tokens_factor(k_n, law["alpha"], law["beta"])
    else:
        assert k_d is not None
        # Size and tokens stand in the law in the same way.
        k_n = tokens_factor(k_d, law["beta"], law["alpha"])
    if math.isinf(k_n * k_d):
        return (REFUSED,) * 3
    parameters, tokens = best(law, flop)
    return k_n * parameters, k_d * tokens, k_n * k_d - 1


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    given = _HALF | list(CASES.values())[max(0, case.sizes["number"])]
    if case.sizes["number"] < 0:
        alpha, beta = (float(n) for n in rng.uniform(0.25, 0.4, 2))
        a, b = (float(n) for n in rng.uniform(200, 900, 2))
        factor = float(rng.uniform(0.4, 3))
        turn = bool(rng.integers(2))
        given = {
            "law": {
                "E": float(rng.uniform(1, 2)),
                "A": a,
                "B": b,
                "alpha": alpha,
                "beta": beta,
            },
            "flop": float(10 ** rng.uniform(18, 26)),
            "k_n": None if turn else factor,
            "k_d": factor if turn else None,
        }
    return {"function": "model_size_overhead", "names": NAMES, "arguments": given}


def _reference(inputs: Values, case: Case) -> Values:
    return dict(zip(NAMES, counted(**inputs["arguments"]), strict=True))


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if expected["overhead"] == REFUSED:
        return "not-refused"
    return "refused" if got.get("overhead") == REFUSED else None


MODEL_SIZE_OVERHEAD = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.puzzle.harness.refusing_once",
    cases=tuple(Case(name, {"number": n}, n == 0) for n, name in enumerate(CASES)),
    random_case=lambda rng: Case("a law drawn at random", {"number": -1}),
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    # Whoever looks for the least loss, step by step, finds the size to half of a float's digits.
    tolerance=(1e-6, 1e-7),
    call=lambda inputs: called("model_size_overhead", inputs["arguments"]),
)

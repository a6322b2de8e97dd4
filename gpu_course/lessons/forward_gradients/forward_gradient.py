"""Puzzle `forward_gradient`: a gradient from one forward pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.lessons.forward_gradients.problem import exact_gradient, keeps_a_graph
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Case,
    Held,
    Judgement,
    PythonPuzzle,
    Values,
)

DRAWS = 8000
SIZE = 6
FAR = 0.15
"""How far a mean of DRAWS products may be from the identity: nine standard deviations for normal
numbers, and six for the jumpiest directions that are right, a single number of sqrt(SIZE)."""
MEAN_FAR = 0.06
"""The same for the mean of all squares, whatever they are: nine standard deviations for normal
numbers."""
ERRORS = 6.0
"""How many standard errors of its own that mean may be away from 1. Directions whose length hardly
varies show a factor of a few hundredths at once."""
ROUNDING = 1e-3
"""What directions of one and the same length may be off by beyond that."""


def _case(name: str, *sizes: int, visible: bool = False) -> Case:
    return Case(name, dict(zip(("depth", "width", "rows"), sizes, strict=True)), visible)


def _random_case(rng: np.random.Generator) -> Case:
    depth, width, rows = (int(rng.integers(*limits)) for limits in ((8, 20), (4, 9), (40, 90)))
    return _case("a chain drawn at random", depth, width, rows)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    width = case.sizes["width"]
    return {
        "draws": DRAWS,
        "size": SIZE,
        **case.sizes,
        "seed": int(rng.integers(1 << 30)),
        "v": rng.normal(size=width * width),
    }


def _reference(inputs: Values, case: Case) -> Values:
    return {"estimate": (exact_gradient(inputs) @ inputs["v"]) * inputs["v"]}


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    # The mean of v is not asked for: v v^T is the same for v and for -v.
    second = got["second_moment"]
    room = min(MEAN_FAR, ERRORS * got["standard_error"] + ROUNDING)
    far = np.abs(second - np.eye(SIZE)).max() > FAR or abs(second.trace() / SIZE - 1) > room
    if not np.isfinite(second).all() or far:
        return Judgement(*_moment_fault(second))
    if not got["repeats"]:
        fact = "two generators with the same seed gave two different directions"
        return Judgement("other-generator", fact)
    return keeps_a_graph(inputs, inputs["v"], got["peak_bytes"])


def _moment_fault(second: np.ndarray) -> tuple[str, str]:
    diagonal = np.diag(second)
    beside = np.abs(second - np.diag(diagonal)).max()
    fact = (
        f"v_i times v_i is {diagonal.mean():.3f} in the mean, and should be 1; v_i times v_j is "
        f"up to {beside:.2f}, and should be 0 (over {DRAWS:,} directions)"
    )
    return ("not-independent" if beside > FAR else "wrong-size"), fact


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """Knows any step of a difference quotient: it is near what is right, and no nearer."""
    right: Any = expected["estimate"]
    return "differences" if np.allclose(got["estimate"], right, 1e-2, 1e-5) else None


_TOLERANCE = (1e-9, 1e-12)

DEEP = Case("a deep chain", {"depth": 200, "width": 8, "rows": 4000, "draws": 8})


FORWARD_GRADIENT = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.forward_gradients.harness.forward_gradient",
    torch=True,
    cases=(
        _case("visible example", 12, 5, 60, visible=True),
        _case("a deep chain", 30, 4, 50),
        _case("one layer", 1, 6, 80),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    held=(Held(DEEP, 60 << 20),),
    diagnose=_diagnose,
    tolerance=_TOLERANCE,
)

"""Puzzle `forward_gradient`: a gradient from one forward pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.lessons.forward_gradients.problem import build, exact_gradient, keeps_a_graph
from gpu_course.puzzle.digits import to_seven_digits
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
    v, estimate = inputs["v"], got["estimate"]
    if estimate.shape != v.shape:
        return None
    gradient = exact_gradient(inputs)
    slope = gradient @ v
    loss, point = build(inputs)
    ways: dict[str, Any] = {
        "forgets-v": np.full_like(v, slope),
        "normalised": slope * v / (v @ v),
        "half-normalised": slope * v / np.sqrt(v @ v),
        "elementwise": gradient * v,
        "the-gradient": gradient,
        "uphill": -slope * v,
        "value-for-slope": loss(point).item() * v,
    }
    for key, wrong in ways.items():
        if np.allclose(estimate, wrong, *_TOLERANCE):
            return key
    if to_seven_digits(expected, got) and _was_float32(inputs, estimate, gradient):
        return "seven-digits"
    return "differences" if np.allclose(estimate, slope * v, 1e-2, 1e-5) else None


def _was_float32(inputs: Values, estimate: np.ndarray, gradient: np.ndarray) -> bool:
    """Whether float32 explains an estimate that is off: a difference quotient is off that far, too.

    A quotient is one number times v. Where there is no such number, what is off is each product;
    else the number is a slope in float32, or that of a point or a direction in float32.
    """
    v = inputs["v"]
    slopes = estimate.astype(np.float64) / v
    one = slopes.mean()
    if np.ptp(slopes) > 1e-12 * abs(one):
        return True
    narrow = v.astype(np.float32).astype(np.float64)
    near = _gradient_in_float32(inputs)
    found = (float(np.float32(gradient @ v)), gradient @ narrow, near @ v, near @ narrow)
    return any(abs(one - each) <= 1e-12 * abs(one) for each in found)


def _gradient_in_float32(inputs: Values) -> np.ndarray:
    """Returns the gradient at the point that float32 leaves of the case's own."""
    loss, point = build(inputs)
    near = point.float().double().requires_grad_()
    loss(near).backward()
    return near.grad.numpy()


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

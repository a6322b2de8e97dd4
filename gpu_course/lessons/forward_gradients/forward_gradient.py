"""Puzzle `forward_gradient`: a gradient from one forward pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.lessons.forward_gradients.problem import build, exact_gradient, keeps_a_graph
from gpu_course.puzzle.digits import IN_FLOAT32, to_seven_digits
from gpu_course.puzzle.specification import (
    Case,
    Debrief,
    Finding,
    Held,
    Mistake,
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


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
    # The mean of v is not asked for: v v^T is the same for v and for -v.
    second = got["second_moment"]
    room = min(MEAN_FAR, ERRORS * got["standard_error"] + ROUNDING)
    far = np.abs(second - np.eye(SIZE)).max() > FAR or abs(second.trace() / SIZE - 1) > room
    if not np.isfinite(second).all() or far:
        return Finding(*_moment_fault(second))
    if not got["repeats"]:
        fact = "two generators with the same seed gave two different directions"
        return Finding("other-generator", fact)
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

DEBRIEF = Debrief(
    shows=("peak_bytes",),
    why=(
        "A forward pass can carry the slope along one direction with it and keeps nothing for "
        "later. On average over the directions, slope times direction is the gradient."
    ),
    alternative=(
        "Normal numbers and random signs both have the mean of v v^T that is needed; signs spread "
        "a little less."
    ),
)

FORWARD_GRADIENT = PythonPuzzle(
    name="19_forward_gradients/forward_gradient",
    title="a gradient from one pass forward",
    difficulty="easy",
    minutes=10,
    debrief=DEBRIEF,
    statement=(
        "Estimate a gradient from the exact slope along a given direction, with no graph, and draw "
        "directions for which the estimate is right on average."
    ),
    parameters={
        "forward_gradient": ("loss", "point", "v"),
        "direction": ("size", "generator"),
    },
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
    diagnoses={
        "forgets-v": (
            "You give back the slope alone, in every place. The slope says how far; the direction "
            "says where."
        ),
        "normalised": (
            "You divide by the squared length of the direction. That gives the part of the "
            "gradient along it, and on average only one d-th of the gradient."
        ),
        "half-normalised": (
            "The direction has length 1 in your product once. The estimate is the slope along v "
            "itself, times v itself."
        ),
        "elementwise": "That is the gradient times v, place by place. A slope is one number.",
        "the-gradient": "That is the gradient itself, and asks for a backward pass.",
        "uphill": "Your estimate has the opposite sign.",
        "value-for-slope": (
            "That is the loss itself times v. torch.func.jvp returns two numbers, the value and "
            "the slope, in this order."
        ),
        "inputs-changed": (
            "The loss, the point and v belong to whoever called you. An operation whose name ends "
            "in _ writes into its tensor: make a new one."
        ),
        "differences": (
            "Your slope is close, and not exact: a difference quotient has an error of its own. "
            "torch.func.jvp carries the tangent along without one."
        ),
        "seven-digits": IN_FLOAT32,
        "keeps-a-graph": (
            "The estimate is right, and memory grew with the depth: a backward pass was prepared "
            "or run. Which function gives the slope on the way forward?"
        ),
        "wrong-size": (
            "Your directions point everywhere alike, and are too short or too long. A number "
            "drawn evenly from -1 to 1 has a mean square of 1/3, one of a vector of length 1 has "
            "1/d: the estimate shrinks by as much."
        ),
        "not-independent": (
            "Two numbers of your directions have a product that is not 0 on average. Do they lean "
            "to one side of zero, or are they the same in every draw?"
        ),
        "other-generator": (
            "Your directions do not come from the generator you are given alone: nobody could "
            "repeat such a run. PyTorch's random functions take `generator=generator`."
        ),
        "no-vector": (
            "There are two functions to write. `direction` gives one tensor with `size` numbers in "
            "it, drawn anew in every call."
        ),
    },
    hints=(
        (
            "torch.func.jvp(function, (point,), (tangent,)) returns the value and the slope along "
            "the tangent, in one pass."
        ),
        (
            "The estimate is a number times a vector. Its mean over many directions is the mean of "
            "v v^T, a matrix, times the gradient. Which matrix should that be?"
        ),
        (
            "For the directions take independent numbers with mean 0 and mean square 1, all from "
            "the generator you are given. Normal numbers have both."
        ),
    ),
    mistakes=(
        Mistake("forgets_the_direction", "wrong-result", "forgets-v"),
        Mistake("divides_by_the_squared_length", "wrong-result", "normalised"),
        Mistake("divides_by_the_length", "wrong-result", "half-normalised"),
        Mistake("place_by_place", "wrong-result", "elementwise"),
        Mistake("the_gradient_itself", "wrong-result", "the-gradient"),
        Mistake("against_the_slope", "wrong-result", "uphill"),
        Mistake("value_for_the_slope", "wrong-result", "value-for-slope"),
        Mistake("difference_quotient", "wrong-result", "differences"),
        Mistake("slope_in_float32", "wrong-result", "seven-digits"),
        Mistake("by_backward_pass", "over-budget", "keeps-a-graph"),
        Mistake("uniform_in_a_box", "wrong-result", "wrong-size", stands_for="direction"),
        Mistake("a_box_almost_right", "wrong-result", "wrong-size", stands_for="direction"),
        Mistake("of_length_one", "wrong-result", "wrong-size", stands_for="direction"),
        Mistake("all_above_zero", "wrong-result", "not-independent", stands_for="direction"),
        Mistake("always_the_same", "wrong-result", "not-independent", stands_for="direction"),
        Mistake("leans_to_one_side", "wrong-result", "not-independent", stands_for="direction"),
        Mistake("another_generator", "wrong-result", "other-generator", stands_for="direction"),
        Mistake("a_list_of_numbers", "wrong-result", "no-vector", stands_for="direction"),
        Mistake("scales_the_direction_itself", "wrong-result", "inputs-changed"),
        Mistake("without_the_tails", "wrong-result", "wrong-size", stands_for="direction"),
    ),
    source="Baydin et al. 2022, Gradients without Backpropagation, arXiv 2202.08587, section 3",
)

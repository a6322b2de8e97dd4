"""Puzzle `k_directions`: several directions at right angles, and the exact gradient when all."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.forward_gradients.problem import exact_gradient, keeps_a_graph
from gpu_course.puzzle.specification import (
    Case,
    Debrief,
    Finding,
    Held,
    Mistake,
    PythonPuzzle,
    Values,
)


def _case(name: str, *sizes: int, visible: bool = False) -> Case:
    return Case(name, dict(zip(("depth", "width", "rows", "k"), sizes, strict=True)), visible)


def _random_case(rng: np.random.Generator) -> Case:
    width = int(rng.integers(2, 4))
    k = int(rng.integers(2, width * width))
    depth, rows = int(rng.integers(40, 60)), int(rng.integers(40, 80))
    return _case("a chain drawn at random", depth, width, rows, k)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    sizes = {name: case.sizes[name] for name in ("depth", "width", "rows")}
    return {
        **sizes,
        "seed": int(rng.integers(1 << 30)),
        "normals": rng.normal(size=(case.sizes["k"], case.sizes["width"] ** 2)),
    }


def _reference(inputs: Values, case: Case) -> Values:
    """d / k times the gradient's part in the space of the normals: by least squares, not by QR."""
    normals, gradient = inputs["normals"], exact_gradient(inputs)
    k, d = normals.shape
    part = normals.T @ np.linalg.lstsq(normals.T, gradient, rcond=None)[0]
    return {"estimate": d / k * part}


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
    return keeps_a_graph(inputs, inputs["normals"], got["peak_bytes"])


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    estimate, right = got["estimate"], expected["estimate"]
    normals, gradient = inputs["normals"], exact_gradient(inputs)
    if estimate.shape != right.shape:
        return None
    k, d = normals.shape
    unit = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    ways = {
        "sum": k * right,
        "length-one": right / d,
        "too-long": right * d,
        "projection": right * k / d,
        "not-apart": normals.T @ (normals @ gradient) / k,
        "only-length": d / k * unit.T @ (unit @ gradient),
        "the-gradient": gradient,
    }
    for key, wrong in ways.items():
        if np.allclose(estimate, wrong, *_TOLERANCE):
            return key
    return None


_TOLERANCE = (1e-8, 1e-10)

DEBRIEF = Debrief(
    shows=("peak_bytes",),
    why=(
        "The estimate is the gradient's shadow in the space of the k directions, times d / k. It "
        "depends on that space alone, so any frame of it at right angles gives the same numbers."
    ),
    alternative=(
        "A QR decomposition gives the frame; Gram and Schmidt's procedure by hand, or the "
        "singular vectors, do as well. One direction after the other keeps the memory low."
    ),
)

K_DIRECTIONS = PythonPuzzle(
    name="19_forward_gradients/k_directions",
    title="directions at right angles",
    difficulty="medium",
    minutes=12,
    debrief=DEBRIEF,
    statement=(
        "Average forward gradients over k directions at right angles: exact once there are as many "
        "as parameters."
    ),
    parameters={"k_directions": ("loss", "point", "normals")},
    harness="gpu_course.lessons.forward_gradients.harness.k_directions",
    torch=True,
    cases=(
        _case("visible example", 40, 3, 60, 4, visible=True),
        _case("one direction", 20, 3, 50, 1),
        _case("as many as parameters", 40, 2, 60, 4),
        _case("two of sixteen", 30, 4, 50, 2),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    held=(Held(_case("a deep chain", 250, 4, 10_000, 1), 60 << 20),),
    diagnose=_diagnose,
    tolerance=_TOLERANCE,
    diagnoses={
        "sum": "You add the estimates up, and an average was asked for.",
        "length-one": (
            "Your directions have length 1. Then the mean of v v^T is a d-th of the identity: what "
            "length makes up for it?"
        ),
        "too-long": (
            "Your directions have length d. The length counts twice in (g.v) v: what must it be, "
            "for its square to be d?"
        ),
        "projection": (
            "That is the gradient's part in the space of your directions: too short by k/d on "
            "average. An estimate is right in the mean."
        ),
        "inputs-changed": (
            "The point and the normals belong to whoever called you. An operation such as /= "
            "writes into its tensor: make a new one."
        ),
        "not-apart": (
            "You take the normal directions as they come. They overlap, and with k = d the "
            "average is not the gradient."
        ),
        "only-length": (
            "Your directions have the right length, and are not at right angles to each other."
        ),
        "the-gradient": "That is the gradient itself, and asks for a backward pass.",
        "keeps-a-graph": (
            "The estimate is right, and memory grew with the depth: a backward pass was prepared "
            "or run. Each direction has its slope on the way forward, by torch.func.jvp."
        ),
    },
    hints=(
        "torch.linalg.qr gives columns of length 1 at right angles that span the same space.",
        (
            "The normals are rows, and qr works on columns: turn them over before and after. Then "
            "give each direction the length sqrt(d)."
        ),
        (
            "For each of the k directions the slope times the direction, all added up, over k. "
            "With k = d it has to be the gradient to the last digits: try that first."
        ),
    ),
    mistakes=(
        Mistake("adds_up", "wrong-result", "sum"),
        Mistake("of_length_one", "wrong-result", "length-one"),
        Mistake("of_length_d", "wrong-result", "too-long"),
        Mistake("the_part_in_the_space", "wrong-result", "projection"),
        Mistake("normals_as_they_come", "wrong-result", "not-apart"),
        Mistake("right_length_alone", "wrong-result", "only-length"),
        Mistake("the_gradient_itself", "wrong-result", "the-gradient"),
        Mistake("by_backward_pass", "over-budget", "keeps-a-graph"),
        Mistake("shortens_the_normals_themselves", "wrong-result", "inputs-changed"),
    ),
    source="Baydin et al. 2022, arXiv 2202.08587, section 3; right angles: worked out here",
)

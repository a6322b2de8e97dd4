"""Puzzle `k_directions`: several directions at right angles, and the exact gradient when all."""

from __future__ import annotations

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


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    return keeps_a_graph(inputs, inputs["normals"], got["peak_bytes"])


_TOLERANCE = (1e-8, 1e-10)


K_DIRECTIONS = PythonPuzzle(
    **puzzle_fields(__file__),
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
    tolerance=_TOLERANCE,
)

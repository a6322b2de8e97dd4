"""Puzzle `lars`: a step in proportion to a layer's own weights, whatever its gradient's length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_course.lessons.data_parallel.layers import (
    MODELS,
    call_of,
    drawn_layers,
    random_model,
    where_a_norm_is_0,
)
from gpu_course.puzzle.digits import rounding
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

Local = Callable[[np.ndarray, np.ndarray], float]


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    weights, gradients, velocities = drawn_layers(rng, case, 3)
    return {
        "weights": weights, "gradients": gradients, "velocities": velocities,
        "rate": float(rng.uniform(0.5, 4)), "momentum": float(rng.uniform(0.5, 0.95)),
        "decay": float(rng.uniform(0.01, 0.2)), "trust": float(rng.uniform(0.01, 0.1)),
    }  # fmt: skip


def _norm(x: np.ndarray) -> float:
    return float(np.sqrt(np.sum(x * x)))


def _ratio(w: np.ndarray, g: np.ndarray, decay: float, trust: float) -> float:
    both = _norm(w) * _norm(g)
    return trust * _norm(w) / (_norm(g) + decay * _norm(w)) if both else 1.0


def _step(given: Values, local: Local, biases_decay: bool = False, outside: bool = False) -> Any:
    """Returns the step with another local rate, or with biases that decay as well."""
    rate, inner = (given["rate"], 1.0) if outside else (1.0, given["rate"])
    weights, velocities = [], []
    for w, g, v in zip(given["weights"], given["gradients"], given["velocities"], strict=True):
        decay = given["decay"] if w.ndim > 1 or biases_decay else 0.0
        v = given["momentum"] * v + inner * local(w, g) * (g + decay * w)
        velocities.append(v)
        weights.append(w - rate * v)
    return weights, velocities


def _local(given: Values, biases: bool = False, inside: float = 1.0) -> Local:
    def local(w: np.ndarray, g: np.ndarray) -> float:
        wide = w.ndim > 1 or biases
        return _ratio(w, g, inside * given["decay"], given["trust"]) if wide else 1.0

    return local


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": _step(inputs, _local(inputs))}


LARS = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=MODELS,
    random_case=random_model,
    inputs=_inputs,
    reference=_reference,
    diagnose=where_a_norm_is_0,
    call=lambda inputs: call_of("lars", inputs),
    tolerance=(1e-9, rounding(8, 128.0)[1]),
)

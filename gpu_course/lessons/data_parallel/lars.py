"""Puzzle `lars`: a step in proportion to a layer's own weights, whatever its gradient's length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_course.lessons.data_parallel.layers import MODELS, drawn, random_model, same_lists
from gpu_course.puzzle.digits import rounding
from gpu_course.puzzle.room import told
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

Local = Callable[[np.ndarray, np.ndarray], float]


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    weights, gradients, velocities = drawn(rng, case, 3)
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


def _unguarded(given: Values, small: float = 0.0, guard: bool = False) -> Local:
    def local(w: np.ndarray, g: np.ndarray) -> float:
        if w.ndim < 2 or (guard and not _norm(g)):
            return 1.0
        below = _norm(g) + given["decay"] * _norm(w) + small
        return given["trust"] * _norm(w) / below if below else np.nan

    return local


def _upside_down(given: Values) -> Local:
    def local(w: np.ndarray, g: np.ndarray) -> float:
        return _ratio(g, w, given["decay"], given["trust"]) if w.ndim > 1 else 1.0

    return local


def _of_the_sum(given: Values) -> Local:
    def local(w: np.ndarray, g: np.ndarray) -> float:
        along = g + given["decay"] * w
        return _ratio(w, along, 0.0, given["trust"]) if w.ndim > 1 else 1.0

    return local


def _of_the_model(given: Values) -> Local:
    lengths = (np.sqrt(sum(_norm(x) ** 2 for x in given[name])) for name in
               ("weights", "gradients"))  # fmt: skip
    length, slope = lengths
    return lambda w, _: (
        given["trust"] * length / (slope + given["decay"] * length) if w.ndim > 1 else 1.0
    )


_OTHERWISE: tuple[tuple[str, Callable[[Values], Any]], ...] = (
    ("no-ratio", lambda given: _step(given, lambda w, g: 1.0)),
    ("zero-stays", lambda given: _step(given, _unguarded(given, guard=True))),
    ("epsilon", lambda given: _step(given, _unguarded(given, small=1e-9))),
    ("zero-unguarded", lambda given: _step(given, _unguarded(given))),
    ("upside-down", lambda given: _step(given, _upside_down(given))),
    ("decay-left-out", lambda given: _step(given, _local(given, inside=0.0))),
    ("norm-of-the-sum", lambda given: _step(given, _of_the_sum(given))),
    ("biases", lambda given: _step(given, _local(given, biases=True), biases_decay=True)),
    ("biases-decay", lambda given: _step(given, _local(given), biases_decay=True)),
    ("one-ratio", lambda given: _step(given, _of_the_model(given))),
    ("rate-outside", lambda given: _step(given, _local(given), outside=True)),
)


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": _step(inputs, _local(inputs))}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    for key, slip in _OTHERWISE:
        wrong = slip(inputs)
        if same_lists(got["result"], wrong) and not same_lists(wrong, expected["result"]):
            return key
    return None


LARS = PythonPuzzle(
    **told(__file__),
    cases=MODELS,
    random_case=random_model,
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-9, rounding(8, 128.0)[1]),
    diagnose=_diagnose,
)

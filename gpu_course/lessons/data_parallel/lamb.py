"""Puzzle `lamb`: Adam's direction, in each layer as long as its weights say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gpu_course.lessons.data_parallel.layers import (
    MODELS,
    ZERO_GRADIENT,
    call_of,
    drawn_layers,
    random_model,
    where_a_norm_is_0,
)
from gpu_course.puzzle.digits import rounding
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

Ratio = Callable[[np.ndarray, np.ndarray, np.ndarray], float]
"""(w, u, g) -> by how much the direction u is stretched."""


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    weights, gradients, firsts, seconds = drawn_layers(rng, case, 4)
    if case.sizes["zeros"]:
        # Where a gradient has always been 0, Adam's direction is 0 too.
        for w, g, m, v in zip(weights, gradients, firsts, seconds, strict=True):
            if not (g.any() and w.any()):
                m *= g.any()
                v *= g.any()
    # Without a decay a gradient of 0 leaves nothing of the direction.
    decays = case.sizes["zeros"] != ZERO_GRADIENT
    return {
        "weights": weights, "gradients": gradients, "firsts": firsts,
        "seconds": [each * each for each in seconds],
        "step": int(rng.integers(1, 9)), "rate": float(rng.uniform(0.001, 0.1)),
        "beta1": float(rng.uniform(0.8, 0.95)), "beta2": float(rng.uniform(0.9, 0.99)),
        "epsilon": float(10 ** rng.uniform(-3, -2)),
        "decay": float(rng.uniform(0.01, 0.2)) if decays else 0.0,
    }  # fmt: skip


def _norm(x: np.ndarray) -> float:
    return float(np.sqrt(np.sum(x * x)))


def _guarded(w: np.ndarray, u: np.ndarray, g: np.ndarray) -> float:
    return _norm(w) / _norm(u) if _norm(w) * _norm(u) else 1.0


def _directions(
    given: Values, *, step: int = 0, corrected: bool = True, inside: bool = False
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Returns (Adam's direction, first, second moment) of each parameter, without the decay."""
    found = []
    one, two, epsilon = given["beta1"], given["beta2"], given["epsilon"]
    at = step or given["step"]
    for g, m, v in zip(given["gradients"], given["firsts"], given["seconds"], strict=True):
        m, v = m + (1 - one) * (g - m), v + (1 - two) * (g * g - v)
        tall = v / (1 - two**at) if corrected else v
        below = np.sqrt(tall + epsilon) if inside else np.sqrt(tall) + epsilon
        found.append(((m / (1 - one**at) if corrected else m) / below, m, v))
    return found


def _step(
    given: Values,
    ratio: Ratio = _guarded,
    directions: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]] = (),
    *,
    decays: bool = True,
    outside: bool = False,
) -> Any:
    weights, firsts, seconds = [], [], []
    decay = given["decay"] if decays else 0.0
    parts = zip(given["weights"], given["gradients"], directions or _directions(given), strict=True)
    for w, g, (u, m, v) in parts:
        whole = u if outside else u + decay * w
        apart = decay * w if outside else 0.0
        weights.append(w - given["rate"] * (ratio(w, whole, g) * whole + apart))
        firsts.append(m)
        seconds.append(v)
    return weights, firsts, seconds


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": _step(inputs)}


LAMB = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=MODELS,
    random_case=random_model,
    inputs=_inputs,
    reference=_reference,
    diagnose=where_a_norm_is_0,
    call=lambda inputs: call_of("lamb", inputs),
    tolerance=(1e-9, rounding(8, 128.0)[1]),
)

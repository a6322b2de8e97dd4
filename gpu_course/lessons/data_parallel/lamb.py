"""Puzzle `lamb`: Adam's direction, in each layer as long as its weights say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gpu_course.lessons.data_parallel.layers import (
    MODELS,
    ZERO_GRADIENT,
    drawn,
    random_model,
    same_lists,
)
from gpu_course.puzzle.digits import rounding
from gpu_course.puzzle.specification import Case, Debrief, Mistake, PythonPuzzle, Values

Ratio = Callable[[np.ndarray, np.ndarray, np.ndarray], float]
"""(w, u, g) -> by how much the direction u is stretched."""


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    weights, gradients, firsts, seconds = drawn(rng, case, 4)
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


def _unguarded(w: np.ndarray, u: np.ndarray, g: np.ndarray) -> float:
    return _norm(w) / _norm(u) if _norm(u) else np.nan


def _below(w: np.ndarray, u: np.ndarray, g: np.ndarray) -> float:
    return _norm(w) / _norm(u) if _norm(u) else 1.0


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


def _of_the_model(given: Values) -> Any:
    ways = [
        u + given["decay"] * w
        for w, (u, _, _) in zip(given["weights"], _directions(given), strict=True)
    ]
    length = np.sqrt(sum(_norm(w) ** 2 for w in given["weights"]))
    way = np.sqrt(sum(_norm(u) ** 2 for u in ways))
    return _step(given, lambda w, u, g: length / way if way else np.nan)


_OTHERWISE: tuple[tuple[str, Callable[[Values], Any]], ...] = (
    ("no-ratio", lambda given: _step(given, lambda w, u, g: 1.0)),
    ("zero-stays", lambda given: _step(given, _below)),
    ("zero-unguarded", lambda given: _step(given, _unguarded)),
    ("upside-down", lambda given: _step(given, lambda w, u, g: _guarded(u, w, g))),
    ("no-correction",
     lambda given: _step(given, directions=_directions(given, corrected=False))),
    ("step-off",
     lambda given: _step(given, directions=_directions(given, step=given["step"] + 1))),
    ("no-decay", lambda given: _step(given, decays=False)),
    ("decay-outside", lambda given: _step(given, outside=True)),
    ("epsilon-inside", lambda given: _step(given, directions=_directions(given, inside=True))),
    ("norm-of-gradient", lambda given: _step(given, lambda w, u, g: _guarded(w, g, g))),
    ("one-ratio", _of_the_model),
)  # fmt: skip


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": _step(inputs)}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    for key, slip in _OTHERWISE:
        wrong = slip(inputs)
        if same_lists(got["result"], wrong) and not same_lists(wrong, expected["result"]):
            return key
    return None


DEBRIEF = Debrief(
    shows=("result",),
    why=(
        "Adam settles the direction, number by number; the ratio settles the length, layer by "
        "layer. Whatever the gradient does, a step changes a layer by the share `rate` of its own "
        "length."
    ),
    alternative=(
        "The published method puts a function of ||w|| above, such as one that keeps it between "
        "two bounds; with the norm itself it is what most libraries do."
    ),
)

LAMB = PythonPuzzle(
    name="22_data_parallel/lamb",
    title="Adam with a length for each layer",
    difficulty="medium",
    minutes=15,
    debrief=DEBRIEF,
    statement=(
        "Take one step of LAMB: Adam's direction with its decay, stretched in each layer to the "
        "norm of the layer's weights. Where a norm is 0 it is not stretched."
    ),
    parameters={
        "lamb": (
            "weights",
            "gradients",
            "firsts",
            "seconds",
            "step",
            "rate",
            "beta1",
            "beta2",
            "epsilon",
            "decay",
        )
    },
    cases=MODELS,
    random_case=random_model,
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-9, rounding(8, 128.0)[1]),
    diagnose=_diagnose,
    diagnoses={
        "no-ratio": (
            "That is Adam with decay: every layer goes as far as its direction is long. Where does "
            "the length of its weights come in?"
        ),
        "zero-stays": (
            "A layer whose weights are all 0 would never leave 0. What is the ratio there?"
        ),
        "zero-unguarded": "Where a norm is 0 the ratio is 1. Which of the two may be 0?",
        "not-finite": "Something is divided by 0. Which of the two norms may be 0?",
        "upside-down": "Your ratio is that of the direction over the weights: turn it over.",
        "no-correction": (
            "m and v are used as they are. They begin at 0 and are too small in the first steps: "
            "what are they divided by?"
        ),
        "step-off": "The number of the step is one too large. The first step is 1.",
        "no-decay": "The decay is missing in u.",
        "decay-outside": (
            "You keep the decay apart, as AdamW does. In LAMB it is a part of u, and is stretched "
            "with it."
        ),
        "epsilon-inside": "epsilon stands under the root. It belongs beside it.",
        "norm-of-gradient": (
            "You divide by the norm of the gradient, as LARS does. What is stretched here is u."
        ),
        "one-ratio": "You have one ratio for the whole model. Each layer has its own.",
    },
    hints=(
        "Write Adam first, for one parameter; the ratio comes at the end.",
        "The corrected moments are only used in u. What is returned are m and v themselves.",
        (
            "u holds the decay. Take the norms of w and of u, and their ratio where both are above "
            "0, else 1."
        ),
    ),
    equivalent_mutants={
        "lamb:targets-swapped:new_seconds, new_firsts, new_weights = ([], [], [])": (
            "All three lists are empty."
        ),
        "lamb:constant:for w, g, m, v in zip(weights, gradients, firsts, seconds, strict=False):": (
            "All four lists are equally long."
        ),
    },
    mistakes=(
        Mistake("no_ratio", "wrong-result", "no-ratio"),
        Mistake("divides_by_zero", "wrong-result", "zero-unguarded"),
        Mistake("zero_weights_stay", "wrong-result", "zero-stays"),
        Mistake("upside_down", "wrong-result", "upside-down"),
        Mistake("no_correction", "wrong-result", "no-correction"),
        Mistake("one_step_behind", "wrong-result", "step-off"),
        Mistake("no_decay", "wrong-result", "no-decay"),
        Mistake("decay_outside_the_ratio", "wrong-result", "decay-outside"),
        Mistake("epsilon_in_the_root", "wrong-result", "epsilon-inside"),
        Mistake("norm_of_the_gradient", "wrong-result", "norm-of-gradient"),
        Mistake("one_ratio_for_all", "wrong-result", "one-ratio"),
    ),
    source=(
        "You and others 2019, Large Batch Optimization for Deep Learning: Training BERT in 76 "
        "minutes"
    ),
)

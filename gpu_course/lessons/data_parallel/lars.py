"""Puzzle `lars`: a step in proportion to a layer's own weights, whatever its gradient's length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_course.lessons.data_parallel.layers import MODELS, drawn, random_model, same_lists
from gpu_course.puzzle.digits import rounding
from gpu_course.puzzle.specification import Case, Debrief, Mistake, PythonPuzzle, Values

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


DEBRIEF = Debrief(
    shows=("result",),
    why=(
        "A layer's gradient says in which direction, and its weights say how far. So each layer is "
        "changed by about the same share of itself, and none is torn apart by the high rate that "
        "a large batch asks for."
    ),
    alternative=(
        "numpy.vdot(w, w) ** 0.5 is the norm as well. The optimizers of libraries put the special "
        "cases into one numpy.where."
    ),
)

LARS = PythonPuzzle(
    name="22_data_parallel/lars",
    title="a rate for each layer",
    difficulty="medium",
    minutes=15,
    debrief=DEBRIEF,
    statement=(
        "Take one step of LARS: momentum with a local rate for each layer, in proportion to the "
        "norm of its weights over that of its gradient. Zeros and biases have a local rate of 1."
    ),
    parameters={
        "lars": ("weights", "gradients", "velocities", "rate", "momentum", "decay", "trust")
    },
    cases=MODELS,
    random_case=random_model,
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-9, rounding(8, 128.0)[1]),
    diagnose=_diagnose,
    diagnoses={
        "no-ratio": (
            "Every layer has the same rate here. Whose weights, and whose gradient, should say how "
            "far a layer goes?"
        ),
        "zero-stays": (
            "A layer whose weights are all 0 gets a rate of 0, and stays at 0 for ever. What does "
            "the statement give it?"
        ),
        "epsilon": (
            "A small number in the denominator keeps it from 0 and changes the result elsewhere. "
            "What is the local rate where a norm is 0?"
        ),
        "zero-unguarded": (
            "Where a norm is 0 the formula does not hold. What does the statement say of it?"
        ),
        "not-finite": (
            "Something is divided by 0. Which norm may be 0, and what is the local rate then?"
        ),
        "upside-down": (
            "Your ratio is that of the gradient over the weights. The longer the gradient, the "
            "farther a layer would go."
        ),
        "decay-left-out": "The denominator has two terms: the decay pulls as well.",
        "norm-of-the-sum": (
            "You take the norm of g + decay w. The formula adds up two norms, which is never less."
        ),
        "biases": (
            "A parameter of one dimension has no ratio and no decay. Its norm says little: biases "
            "begin at 0."
        ),
        "biases-decay": "A parameter of one dimension does not decay.",
        "one-ratio": "You have one ratio for the whole model. Each layer has its own.",
        "rate-outside": (
            "You multiply by the rate when the weights are changed; here it goes into the "
            "velocity. The two differ as soon as the rate changes."
        ),
    },
    hints=(
        "A loop over the parameters; in it the three lines of the statement.",
        "numpy.linalg.norm of an array of two dimensions is the root of all its squares.",
        (
            "Begin with local = 1 and no decay. Only where w.ndim is 2 or more does the decay "
            "apply, and only where both norms are above 0 the ratio."
        ),
    ),
    equivalent_mutants={
        "lars:targets-swapped:new_velocities, new_weights = ([], [])": "Both lists are empty.",
        "lars:constant:for w, g, v in zip(weights, gradients, velocities, strict=False):": (
            "All three lists are equally long."
        ),
    },
    mistakes=(
        Mistake("one_rate_for_all", "wrong-result", "no-ratio"),
        Mistake("divides_by_zero", "wrong-result", "zero-unguarded"),
        Mistake("zero_weights_stay", "wrong-result", "zero-stays"),
        Mistake("epsilon_for_zero", "wrong-result", "epsilon"),
        Mistake("upside_down", "wrong-result", "upside-down"),
        Mistake("decay_not_in_the_norm", "wrong-result", "decay-left-out"),
        Mistake("norm_of_the_sum", "wrong-result", "norm-of-the-sum"),
        Mistake("biases_too", "wrong-result", "biases"),
        Mistake("decays_the_biases", "wrong-result", "biases-decay"),
        Mistake("one_ratio_for_all", "wrong-result", "one-ratio"),
        Mistake("rate_outside", "wrong-result", "rate-outside"),
        Mistake("in_place", "input-changed", "input-changed"),
    ),
    source="You, Gitman, Ginsburg 2017, Large Batch Training of Convolutional Networks",
)

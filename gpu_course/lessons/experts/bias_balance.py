"""Puzzle `bias_balance`: loads evened out by a bias, as DeepSeek-V3 does it."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.experts.pieces import TOLERANCE, within_operations
from gpu_course.measure.experts.routing import FLOOR, balanced_choice, moved_bias
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values

MOST_OPERATIONS = 40
SPREAD, TIED, NO_SCORE = range(3)


def _case(
    name: str,
    tokens: int,
    experts: int,
    k: int,
    batches: int = 1,
    kind: int = SPREAD,
    visible: bool = False,
) -> Case:
    sizes = {"tokens": tokens, "experts": experts, "k": k, "batches": batches, "kind": kind}
    return sized(name, visible=visible, **sizes)


CASES = (
    _case("visible example", 6, 4, 2, visible=True),
    _case("four batches", 12, 5, 2, batches=4),
    _case("equal scores", 8, 20, 4, batches=2, kind=TIED),
    _case("k is all experts", 5, 3, 3, batches=2),
    _case("no token", 0, 4, 2),
    _case("scores of 0", 6, 4, 2, kind=NO_SCORE),
    _case("one expert for each of 7 tokens", 7, 3, 1, batches=2),
    _case("many tokens", 256, 32, 4, batches=2),
)


def _random_case(rng: np.random.Generator) -> Case:
    experts = int(rng.integers(4, 9))
    k = int(rng.integers(1, experts))
    return _case("sizes drawn at random", int(rng.integers(8, 30)), experts, k, batches=3)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    tokens, experts, k, kind = (case.sizes[name] for name in ("tokens", "experts", "k", "kind"))
    liking = rng.permutation(np.linspace(-1, 1, experts))
    digits = 1 if case.visible else 9

    def batch() -> np.ndarray:
        found = np.round(rng.normal(size=(tokens, experts)) + liking, digits)
        if kind == TIED:
            found = rng.integers(-1, 2, (tokens, experts)) * 1.0
        if kind == NO_SCORE:
            # All of the first token's scores are 0, and so small are those of the second that the
            # 1e-20 shows.
            found[0], found[1] = -np.inf, -45.0 - np.arange(experts) / 8
        return found

    batches = range(case.sizes["batches"])
    # As large as scores differ, so that it changes choices.
    bias = np.round(rng.normal(0, 0.2, experts), digits + 1)
    if kind == TIED:
        bias = np.zeros(experts)
    return {
        "logits": [batch() for _ in batches],
        "bias": bias,
        "dweights": [np.round(rng.normal(size=(tokens, k)), 6) for _ in batches],
        "k": k,
        "rate": round(float(rng.uniform(0.05, 0.2)), 3),
    }


def _gradient(logits: np.ndarray, experts: np.ndarray, dweights: np.ndarray) -> np.ndarray:
    """Returns the gradient of the logits, from that of the weights."""
    scores = _scores(logits)
    chosen = np.take_along_axis(scores, experts, axis=1)
    total = chosen.sum(axis=1, keepdims=True) + FLOOR
    moved = (dweights - (dweights * chosen / total).sum(axis=1, keepdims=True)) / total
    found = np.zeros_like(logits)
    np.put_along_axis(found, experts, moved * chosen * (1 - chosen), axis=1)
    return found


def _scores(logits: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-logits))


def _reference(inputs: Values, case: Case) -> Values:
    bias, k = inputs["bias"], inputs["k"]
    found: Values = {name: [] for name in ("experts", "weights", "bias", "carries", "dlogits")}
    for logits, dweights in zip(inputs["logits"], inputs["dweights"], strict=True):
        experts, weights = balanced_choice(_scores(logits), bias, k)
        bias = moved_bias(bias, experts, inputs["rate"])
        found["experts"].append(experts)
        found["weights"].append(weights)
        found["bias"].append(bias)
        found["carries"].append(False)
        found["dlogits"].append(_gradient(logits, experts, dweights))
    return found


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    return within_operations(got, MOST_OPERATIONS)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """How far each bias moved is free in wrong answers, so it is looked at here."""
    for at, right in enumerate(expected["bias"]):
        if at >= len(got["bias"]) or np.shape(got["bias"][at]) != right.shape:
            return None
        if not np.array_equal(got["experts"][at], expected["experts"][at]):
            return None
        before = expected["bias"][at - 1] if at else inputs["bias"]
        steps = np.abs(np.asarray(got["bias"][at]) - before) / inputs["rate"]
        if not np.allclose(steps, np.round(steps), atol=1e-9) or steps.max(initial=0) > 1.5:
            return "by-how-much"
    return None


def _call(inputs: Values) -> str:
    tokens, experts = inputs["logits"][0].shape
    return (
        f"bias_balance(logits, bias, {inputs['k']}, {inputs['rate']}), {tokens} tokens, "
        f"{experts} experts"
    )


BIAS_BALANCE = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.experts.harness.bias_steps",
    torch=True,
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=TOLERANCE,
    judge=_judge,
    diagnose=_diagnose,
    call=_call,
    self_check="PyTorch operations",
)

"""Puzzle `top_k_route`: which experts a token goes to, with what weight, and to which place."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.experts.pieces import TOLERANCE, within_operations
from gpu_course.measure.experts.routing import route
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.harness.refusing import REFUSED
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Held, Judgement, PythonPuzzle, Values

MOST_OPERATIONS, NUMBERS_EACH = 60, 16
SPREAD, TIED, HUGE, CLOSED, SHUT, NAN, INFINITE = range(7)
NO_RESULT = (SHUT, NAN, INFINITE)


def _case(
    name: str,
    tokens: int,
    experts: int,
    k: int,
    capacity: int,
    kind: int = SPREAD,
    visible: bool = False,
) -> Case:
    sizes = {"tokens": tokens, "experts": experts, "k": k, "capacity": capacity, "kind": kind}
    return sized(name, visible=visible, **sizes)


CASES = (
    _case("visible example", 6, 4, 2, 2, visible=True),
    # So many that a sort which need not keep their order does not.
    _case("equal logits", 12, 20, 4, 3, TIED),
    _case("k is all experts", 5, 4, 4, 3),
    _case("no room", 4, 3, 2, 0),
    _case("no token", 0, 3, 2, 2),
    _case("one expert", 3, 1, 1, 2),
    _case("logits in the thousands", 7, 5, 3, 4, HUGE),
    _case("experts closed by -inf", 9, 5, 2, 5, CLOSED),
    _case("a token with too few open: a ValueError", 6, 4, 2, 3, SHUT),
    _case("a NaN: a ValueError", 6, 4, 2, 3, NAN),
    _case("a logit of +inf: a ValueError", 6, 4, 2, 3, INFINITE),
    # Some experts get far more than the mean of 16, and some hardly any.
    _case("many tokens", 256, 32, 2, 64),
)


def _random_case(rng: np.random.Generator) -> Case:
    experts = int(rng.integers(4, 9))
    tokens, k = int(rng.integers(10, 30)), int(rng.integers(2, experts))
    return _case("sizes drawn at random", tokens, experts, k, max(2, tokens * k // experts))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    tokens, experts, kind = (case.sizes[name] for name in ("tokens", "experts", "kind"))
    # Some experts are liked by most tokens, so that there are too many for them.
    logits = rng.normal(size=(tokens, experts)) + rng.permutation(np.linspace(0, 1.5, experts))
    logits = np.round(logits, 1 if case.visible else 9)
    places = rng.permutation(tokens)
    if kind == TIED:
        logits = rng.integers(0, 3, (tokens, experts)) / 2.0
    elif kind == HUGE:
        logits = np.round(logits * 3, 3) + rng.choice([-2000.0, 2000.0], (tokens, 1))
    elif kind == CLOSED:
        logits[rng.random((tokens, experts)) < 0.3] = -np.inf
        logits[:, :2] = np.where(np.isinf(logits[:, :2]), 0.25, logits[:, :2])
    elif kind == SHUT:
        logits[places[0], 1:] = -np.inf
    elif kind == NAN:
        logits[places[0], 2] = np.nan
    elif kind == INFINITE:
        logits[places[0], 1] = np.inf
    return {
        "function": "top_k_route",
        "refuses": kind in NO_RESULT,
        "logits": logits,
        "k": case.sizes["k"],
        "capacity": case.sizes["capacity"],
    }


def _reference(inputs: Values, case: Case) -> Values:
    if inputs["refuses"]:
        return {"result": REFUSED}
    return {"result": tuple(route(inputs["logits"], inputs["k"], inputs["capacity"]))}


def most_bytes(case: Case) -> int:
    """Returns the bytes that may be alive at one time."""
    return 8 * NUMBERS_EACH * case.sizes["tokens"] * case.sizes["experts"]


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    # A few numbers that are there whatever the size would be too much for the smallest cases.
    large = case.sizes["tokens"] * case.sizes["experts"] >= 1000
    return within_operations(got, MOST_OPERATIONS, most_bytes(case) if large else None)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    return "not-refused" if inputs["refuses"] else None


def _call(inputs: Values) -> str:
    tokens, experts = inputs["logits"].shape
    k, capacity = inputs["k"], inputs["capacity"]
    return f"top_k_route(logits, {k}, {capacity}), {tokens} tokens, {experts} experts"


TOP_K_ROUTE = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.experts.harness.on_tensors",
    torch=True,
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=TOLERANCE,
    judge=_judge,
    diagnose=_diagnose,
    call=_call,
    # What the statement allows is 16 MB; a mask over places takes 192 MB and more.
    held=(Held(_case("much room", 8000, 16, 2, 1500), 96 << 20),),
    self_check="PyTorch operations",
)

"""Puzzle `limit_nodes`: experts from few nodes, and the rows between nodes that this saves."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.experts.pieces import within_operations
from gpu_course.measure.experts.routing import best, node_limited
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.harness.refusing import REFUSED
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values

MOST_OPERATIONS = 60
SPREAD, TIED, NEGATIVE, NAN = range(4)


def _case(
    name: str,
    tokens: int,
    nodes: int,
    per_node: int,
    k: int,
    limit: int,
    kind: int = SPREAD,
    visible: bool = False,
) -> Case:
    sizes = {"tokens": tokens, "nodes": nodes, "per_node": per_node, "k": k, "limit": limit}
    return sized(name, visible=visible, **sizes, kind=kind)


CASES = (
    _case("visible example", 5, 4, 3, 4, 2, visible=True),
    _case("one node for each token", 9, 3, 4, 3, 1),
    _case("as many nodes as experts of a token", 8, 5, 3, 3, 3),
    _case("all nodes", 6, 3, 2, 3, 3),
    _case("equal scores", 10, 5, 8, 4, 2, TIED),
    _case("scores below 0", 9, 4, 3, 4, 2, NEGATIVE),
    _case("whole nodes", 7, 4, 2, 4, 2),
    _case("one node in all", 4, 1, 5, 2, 1),
    _case("no token", 0, 3, 2, 2, 2),
    _case("a NaN: a ValueError", 6, 3, 3, 2, 1, NAN),
    _case("6 of 24 experts in 2 nodes", 12, 4, 6, 6, 2),
    # DeepSeek-V3: 8 of 256 experts, in 4 of 8 nodes.
    _case("many tokens", 128, 8, 32, 8, 4),
)


def _random_case(rng: np.random.Generator) -> Case:
    nodes, limit = int(rng.integers(3, 6)), int(rng.integers(1, 3))
    per_node = int(rng.integers(3, 6))
    return _case("sizes drawn at random", 15, nodes, per_node, limit * 3, limit)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    sizes = case.sizes
    tokens, nodes, kind = sizes["tokens"], sizes["nodes"], sizes["kind"]
    scores = rng.uniform(0.0, 1.0, (tokens, nodes * sizes["per_node"]))
    scores = np.round(scores, 3 if case.visible else 9)
    if kind == TIED:
        scores = rng.integers(0, 3, scores.shape) / 2.0
    elif kind == NEGATIVE:
        scores -= 0.9
    elif kind == NAN:
        scores[tokens // 2, 1] = np.nan
    return {
        "function": "limit_nodes",
        "refuses": kind == NAN,
        "scores": scores,
        "k": sizes["k"],
        "nodes": nodes,
        "limit": sizes["limit"],
        "home": rng.integers(0, nodes, tokens),
    }


def crossing(experts: np.ndarray, per_node: int, home: np.ndarray) -> int:
    """Returns how many rows cross between nodes, one for each token and node other than its own."""
    rows = zip(experts.tolist(), home.tolist(), strict=True)
    return sum(len({each // per_node for each in row} - {own}) for row, own in rows)


def _reference(inputs: Values, case: Case) -> Values:
    if inputs["refuses"]:
        return {"result": REFUSED}
    scores, k, home = inputs["scores"], inputs["k"], inputs["home"]
    per_node = case.sizes["per_node"]
    experts = node_limited(scores, k, inputs["nodes"], inputs["limit"])
    free = crossing(best(scores, k), per_node, home)
    return {"result": (experts, free, crossing(experts, per_node, home))}


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    return within_operations(got, MOST_OPERATIONS)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    return "not-refused" if inputs["refuses"] else None


def _call(inputs: Values) -> str:
    tokens, experts = inputs["scores"].shape
    k, nodes, limit = inputs["k"], inputs["nodes"], inputs["limit"]
    return f"limit_nodes(scores, {k}, {nodes}, {limit}, home), {tokens} tokens, {experts} experts"


LIMIT_NODES = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.experts.harness.on_tensors",
    torch=True,
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    diagnose=_diagnose,
    call=_call,
    self_check="PyTorch operations",
)

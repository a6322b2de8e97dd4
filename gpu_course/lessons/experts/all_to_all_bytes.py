"""Puzzle `all_to_all_bytes`: the bytes that one rank's tokens send, by kind of link."""

from __future__ import annotations

import numpy as np

from gpu_course.measure.experts.traffic import bf16_row_bytes, copies, fp8_row_bytes
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.harness.refusing import REFUSED
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

DRAWN, DROPPED, PAST_THE_LAST, BELOW = range(4)
NO_EXPERT = (PAST_THE_LAST, BELOW)


def _case(
    name: str,
    tokens: int,
    nodes: int,
    per_node: int,
    per_rank: int,
    kind: int = DRAWN,
    visible: bool = False,
    **more: int,
) -> Case:
    sizes = {"tokens": tokens, "nodes": nodes, "per_node": per_node, "per_rank": per_rank}
    sizes |= {"rank": nodes * per_node // 2, "k": 4, "width": 256, "kind": kind}
    return sized(name, visible=visible, **(sizes | more))


CASES = (
    _case("visible example", 4, 3, 2, 2, visible=True, rank=1),
    _case("four nodes", 12, 4, 4, 2, k=6),
    _case("one node", 9, 1, 4, 2),
    _case("nodes of one rank", 9, 4, 1, 3),
    _case("129 numbers in a row", 8, 3, 2, 2, width=129),
    _case("fewer numbers than one scale is for", 6, 2, 2, 3, width=100),
    _case("choices that were dropped", 10, 3, 4, 1, DROPPED),
    _case("no token", 0, 2, 2, 2),
    _case("one rank", 4, 1, 1, 6),
    _case("an expert past the last: a ValueError", 5, 2, 2, 2, PAST_THE_LAST),
    _case("expert -2: a ValueError", 5, 2, 2, 2, BELOW),
    # DeepSeek-V3's prefill: 32 ranks, 8 experts each, 7168 numbers.
    _case("32 ranks of 8 experts", 60, 4, 8, 8, k=8, width=7168),
)


def _random_case(rng: np.random.Generator) -> Case:
    nodes, per_node = int(rng.integers(2, 5)), int(rng.integers(2, 5))
    rank = int(rng.integers(0, nodes * per_node))
    width = int(rng.integers(100, 900))
    return _case("sizes drawn at random", 20, nodes, per_node, 2, rank=rank, width=width)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    sizes = case.sizes
    total = sizes["nodes"] * sizes["per_node"] * sizes["per_rank"]
    # Neighbouring experts are chosen together, so that tokens have several in a node and a rank.
    at = rng.integers(0, total, (sizes["tokens"], 1))
    near = np.abs((np.arange(total) - at + total // 2) % total - total // 2)
    chosen = np.argsort(near * 0.5 + rng.uniform(0, total / 2, near.shape), axis=1)
    chosen = chosen[:, : min(sizes["k"], total)]
    if sizes["kind"] == DROPPED:
        chosen[rng.random(chosen.shape) < 0.4] = -1
        chosen[0] = -1
    elif sizes["kind"] in NO_EXPERT:
        chosen[3, 1] = total if sizes["kind"] == PAST_THE_LAST else -2
    arguments = {
        "experts": chosen.tolist(),
        "rank": sizes["rank"],
        "per_rank": sizes["per_rank"],
        "per_node": sizes["per_node"],
        "total": total,
        "width": sizes["width"],
    }
    return {"function": "all_to_all_bytes", "names": ("result",), "arguments": arguments}


def _reference(inputs: Values, case: Case) -> Values:
    given = inputs["arguments"]
    if any(not -1 <= each < given["total"] for chosen in given["experts"] for each in chosen):
        return {"result": REFUSED}
    nvlink, rdma = copies(*(given[name] for name in ("experts", "rank", "per_rank", "per_node")))
    rows = fp8_row_bytes(given["width"]), bf16_row_bytes(given["width"])
    return {"result": tuple((nvlink * row, rdma * row) for row in rows)}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if expected["result"] == REFUSED:
        return "not-refused"
    return "refused" if got.get("result") == REFUSED else None


def _call(inputs: Values) -> str:
    given = inputs["arguments"]
    names = ("rank", "per_rank", "per_node", "total", "width")
    numbers = ", ".join(str(given[name]) for name in names)
    return f"all_to_all_bytes(experts, {numbers}), experts {given['experts']}"


ALL_TO_ALL_BYTES = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.puzzle.harness.refusing_once",
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    call=_call,
)

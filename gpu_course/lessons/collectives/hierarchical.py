"""Puzzle `hierarchical`: an all-reduce that sends little between the nodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpu_course.lessons.collectives.pieces import (
    NOT_FINITE,
    TOLERANCE,
    summed,
    whole_on_each,
)
from gpu_course.puzzle.on_ranks import (
    FLOAT64_BYTES,
    as_wide,
    by_hand,
    ranks_of,
    sends,
    standstill,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values
from gpu_course.ranks.calls import Call
from simt.text import count


def _case(nodes: int, per_node: int, length: int, name: str = "", visible: bool = False) -> Case:
    words = name or f"{count(nodes, 'node')} of {per_node}, {count(length, 'number')}"
    sizes = {"ranks": nodes * per_node, "per_node": per_node, "length": length}
    return Case(words, sizes, visible)


def _random_case(rng: np.random.Generator) -> Case:
    return _case(2, 2, 4 * int(rng.integers(4, 12)) + int(rng.integers(1, 4)), "a drawn length")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    return whole_on_each(rng, case) | {"per_node": case.sizes["per_node"]}


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": (summed(inputs),) * ranks_of(case)}


def allowed_bytes(case: Case) -> tuple[int, int]:
    """Returns (inside a node, between nodes): the most bytes that a rank needs to send.

    A share is 1 / per_node of the buffer, rounded up to whole numbers, and so are its parts.
    """
    per_node, length = case.sizes["per_node"], case.sizes["length"]
    nodes = ranks_of(case) // per_node
    share = -(-length // per_node)
    inside, between = 2 * (per_node - 1) * share, 2 * (nodes - 1) * -(-share // nodes)
    return FLOAT64_BYTES * inside, FLOAT64_BYTES * between


def least_bytes(case: Case) -> tuple[int, int]:
    """Returns (between nodes, inside them): what all ranks together cannot send less than.

    In each node every number comes together once and goes out once, and so it does between them.
    Where everything divides, this is what all may send: then each rank sends exactly its part.
    """
    per_node, whole = case.sizes["per_node"], FLOAT64_BYTES * case.sizes["length"]
    nodes = ranks_of(case) // per_node
    return 2 * (nodes - 1) * whole, nodes * 2 * (per_node - 1) * whole


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    wire, per_node = got["wire"], case.sizes["per_node"]
    if found := by_hand(wire):
        return found
    inside, between = allowed_bytes(case)
    # Who sends too much to other nodes is told first: that is what the puzzle is about.
    for away, most, where in ((True, between, "to other nodes"), (False, inside, "in its node")):
        for rank in range(ranks_of(case)):
            own = [call for call in sends(wire, rank) if _leaves(call, per_node) is away]
            sent = sum(call.payload_bytes for call in own)
            if sent > most:
                largest = max(own, key=lambda call: call.payload_bytes)
                fact = f"rank {rank} sends {sent:,} bytes {where}; {most:,} will do"
                key = _why_between(case, wire) if away else "too-many-bytes"
                return Judgement(key, fact, "over-budget", largest.line)
    for away, least in zip((True, False), least_bytes(case), strict=True):
        part = [call for call in wire if _leaves(call, per_node) is away]
        if found := as_wide(part, least):
            return found
    return None


def _leaves(call: Call, per_node: int) -> bool:
    """Whether a send goes to another node."""
    return call.peer is not None and call.peer // per_node != call.rank // per_node


def _why_between(case: Case, wire: Sequence[Call]) -> str:
    """The key of what sends too much between nodes."""
    ranks, per_node = ranks_of(case), case.sizes["per_node"]
    told = [call for call in wire if call.kind == "send"]
    if all(call.peer == (call.rank + 1) % ranks for call in told):
        return "flat-ring"
    away = {call.rank for call in told if _leaves(call, per_node)}
    return "leaders" if away == set(range(0, ranks, per_node)) else "whole-between"


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if "failed" in got:
        return standstill(got)
    size = case.sizes["length"]
    return "rest-dropped" if all(np.size(each) < size for each in got["result"]) else None


HIERARCHICAL = PythonPuzzle(
    **puzzle_fields(__file__),
    ranks=ranks_of,
    torch=True,
    cases=(
        _case(2, 2, 8, "visible example", visible=True),
        _case(2, 2, 13, NOT_FINITE),
        _case(2, 2, 3),
        _case(2, 2, 20_000),
        _case(1, 4, 9),
        _case(4, 1, 7),
        _case(1, 2, 5),
        _case(2, 1, 6),
        _case(1, 1, 4),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=TOLERANCE,
    judge=_judge,
    diagnose=_diagnose,
)

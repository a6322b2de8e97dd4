"""Puzzle `hierarchical`: an all-reduce that sends little between the nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from gpu_course.lessons.collectives.pieces import (
    DIAGNOSES,
    FLOAT64_BYTES,
    NOT_FINITE,
    TOLERANCE,
    as_wide,
    by_hand,
    pieces,
    ranks_of,
    same,
    sends,
    standstill,
    summed,
    whole_on_each,
)
from gpu_course.puzzle.digits import to_seven_digits
from gpu_course.puzzle.specification import Case, Debrief, Finding, Mistake, PythonPuzzle, Values
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


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
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
                return Finding(key, fact, "over-budget", largest.line)
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


def _sums(parts: tuple[np.ndarray, ...], groups: Iterable[Iterable[int]]) -> list[np.ndarray]:
    """Returns on each rank the sum over its group."""
    found: dict[int, np.ndarray] = {}
    for group in map(list, groups):
        found |= dict.fromkeys(group, np.sum([parts[rank] for rank in group], axis=0))
    return [np.asarray(found[rank]) for rank in range(len(parts))]


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if "failed" in got:
        return standstill(got)
    if to_seven_digits(expected, got):
        return "seven-digits"
    ranks, per_node, parts = ranks_of(case), case.sizes["per_node"], inputs["x"].parts
    right, result = expected["result"], got["result"]
    if ranks == 1:
        return None
    if same(result, [each / ranks for each in right]):
        return "averaged"
    if per_node > 1 and same(
        result, [pieces(right[r], per_node)[r % per_node] for r in range(ranks)]
    ):
        return "share-alone"
    lengths = {np.size(each) for each in result}
    if max(lengths) < case.sizes["length"]:
        return "rest-dropped"
    nodes = [range(first, first + per_node) for first in range(0, ranks, per_node)]
    in_node = _sums(parts, nodes)
    if same(result, in_node):
        return "node-alone"
    if same(result, _sums(parts, [range(place, ranks, per_node) for place in range(per_node)])):
        return "not-added-inside"
    first = [
        np.concatenate([pieces(right[r], per_node)[0], *pieces(in_node[r], per_node)[1:]])
        for r in range(ranks)
    ]
    return "leaders-alone" if same(result, first) else None


DEBRIEF = Debrief(
    shows=("bytes_sent", "messages"),
    why=(
        "Inside a node the sum of each share comes to one rank, so that no two ranks of a node "
        "have the same to tell another node. Between nodes each rank then sends 2 (k - 1) / k of a "
        "share and not of the buffer, and the slow links of all ranks are in use at once."
    ),
    alternative=(
        "Where nodes are many, the ring between them becomes a tree: fewer steps for the same "
        "bytes. Where a node has one port for all of its ranks, one leader could send everything: "
        "the port sees as many bytes."
    ),
)

HIERARCHICAL = PythonPuzzle(
    name="21_collectives/hierarchical",
    title="little between the nodes",
    difficulty="hard",
    minutes=25,
    debrief=DEBRIEF,
    statement=(
        "Add up the buffers of all ranks in three parts, inside the nodes, between them and inside "
        "again, so that each rank sends other nodes no more than it must."
    ),
    parameters={"hierarchical": ("x", "per_node")},
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
    diagnoses={
        **DIAGNOSES,
        "averaged": "Each number is the mean over the ranks. Asked for is their sum.",
        "share-alone": (
            "Each rank ends with its own share of the sum. The other ranks of its node have the "
            "rest."
        ),
        "rest-dropped": (
            "The result is shorter than x. The number of ranks in a node need not divide the "
            "length; tensor_split gives the first parts one number more."
        ),
        "node-alone": (
            "Each rank ends with the sum over its own node. Who holds the same share in the other "
            "nodes?"
        ),
        "not-added-inside": (
            "The ranks of one node end with different sums: what was added up is each rank's own "
            "numbers with those of the ranks at its place in other nodes. First add up inside."
        ),
        "leaders-alone": (
            "The first share is right and the others are sums over one node. Every rank has a "
            "share to settle with the other nodes, not the first of each node alone."
        ),
        "flat-ring": (
            "The result is right, and it came round a single ring of all ranks. Where that ring "
            "leaves a node, nearly two buffers cross: first let the node agree on who tells what."
        ),
        "leaders": (
            "The result is right, and one rank of each node sends everything to the others, while "
            "the links of its neighbours are idle. Each rank can take a share of that."
        ),
        "whole-between": (
            "The result is right, and too much goes between the nodes. How much of the buffer does "
            "a rank still have to tell other nodes once its node has shared the work?"
        ),
        "input-changed": (
            "The tensor x was written to. tensor_split gives views; make a new tensor of the sum."
        ),
    },
    hints=(
        (
            "Draw two nodes of two ranks. After a reduce-scatter inside each node, who holds what? "
            "And who in the other node holds the same?"
        ),
        (
            "Two rings for each rank: the ranks of its node, and the ranks that have its place in "
            "all nodes. The place is r % per_node."
        ),
        (
            "Reduce-scatter the parts inside. What you hold then, cut for the other ring: "
            "reduce-scatter and all-gather there, and put it together. Last, all-gather inside."
        ),
    ),
    mistakes=(
        Mistake("one_ring_for_all", "over-budget", "flat-ring"),
        Mistake("leaders_send_it_all", "over-budget", "leaders"),
        Mistake("whole_buffers_between", "over-budget", "whole-between"),
        Mistake("between_before_inside", "over-budget", "whole-between"),
        Mistake("takes_the_levels_for_each_other", "over-budget", "whole-between"),
        Mistake("gathers_all_inside", "over-budget", "too-many-bytes"),
        Mistake("stays_in_its_node", "wrong-result", "node-alone"),
        Mistake("forgets_the_first_part", "wrong-result", "not-added-inside"),
        Mistake("forgets_the_last_part", "wrong-result", "share-alone"),
        Mistake("only_leaders_talk", "wrong-result", "leaders-alone"),
        Mistake("drops_the_rest", "wrong-result", "rest-dropped"),
        Mistake("divides_at_the_end", "wrong-result", "averaged"),
        Mistake("writes_into_x", "input-changed", "input-changed"),
        Mistake("asks_the_library", "refused", "library-collective"),
        Mistake("sends_them_in_float32", "refused", "narrowed"),
    ),
    source=(
        "Jia and others 2018, Highly Scalable Deep Learning Training System with Mixed-Precision; "
        "An and others 2024, Fire-Flyer AI-HPC, HFReduce"
    ),
)

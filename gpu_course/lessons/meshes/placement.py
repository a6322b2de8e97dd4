"""Puzzle `placement`: bytes on each class of links, and the order that keeps them off slow ones."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_course.measure.meshes import LINKS, Cluster, Mesh, Traffic, link_bytes
from gpu_course.puzzle.harness import Unusable
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

RING, LINE, ALL = "ring", "line", "all to all"
WHOLE = 840
"""Bytes are multiples of it, which every number of others up to 8 divides."""

Axes = dict[str, tuple[int, str, int]]
"""For each axis its size, its pattern, and what a rank sends, in WHOLE bytes."""

KNOWN: dict[str, tuple[Axes, int, int]] = {
    "visible example": ({"dp": (2, RING, 2), "tp": (2, RING, 48), "pp": (4, LINE, 7)}, 4, 2),
    "the largest axis is not the heaviest": (
        {"dp": (3, RING, 9), "tp": (4, RING, 20), "cp": (2, RING, 30)}, 4, 3,
    ),
    "a line sends both ways": ({"pp": (4, LINE, 11), "dp": (4, RING, 14)}, 4, 2),
    "each to every other": (
        {"ep": (8, ALL, 60), "dp": (2, RING, 40), "pp": (2, LINE, 25)}, 8, 2,
    ),
    "racks before nodes": ({"a": (2, RING, 10), "b": (4, RING, 7), "c": (4, ALL, 16)}, 4, 2),
    "an axis that sends nothing": (
        {"tp": (4, RING, 0), "dp": (4, RING, 8), "pp": (2, LINE, 3)}, 4, 4,
    ),
    "axes of one place": (
        {"cp": (1, RING, 90), "tp": (2, RING, 9), "ep": (1, ALL, 70), "dp": (6, RING, 4)}, 2, 3,
    ),
    "a node that is not full": ({"tp": (3, RING, 7), "pp": (3, LINE, 6), "dp": (3, RING, 5)}, 4, 2),
    "everything in one node": ({"tp": (2, RING, 4), "dp": (4, RING, 4)}, 8, 2),
    "a GPU to each node": ({"dp": (3, RING, 5), "pp": (4, LINE, 5)}, 1, 3),
    "one rank": ({"dp": (1, RING, 5)}, 8, 1),
    "five axes, 64 ranks": (
        {
            "dp": (4, RING, 21), "pp": (2, LINE, 16), "ep": (2, ALL, 30), "cp": (2, RING, 24),
            "tp": (2, RING, 90),
        }, 8, 2,
    ),
}  # fmt: skip
NAMES = tuple(KNOWN)


def _drawn(rng: np.random.Generator) -> tuple[Axes, int, int]:
    while True:
        sizes = [int(each) for each in rng.integers(1, 6, rng.integers(3, 6))]
        if 8 <= np.prod(sizes) <= 64:
            break
    names = rng.permutation(["tp", "cp", "ep", "dp", "pp"])
    patterns = (RING, RING, LINE, ALL)
    axes = {
        str(name): (size, patterns[rng.integers(4)], int(rng.integers(1, 60)))
        for name, size in zip(names, sizes, strict=False)
    }
    return axes, int(rng.choice([2, 4, 8])), int(rng.choice([2, 3]))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    number = case.sizes["number"]
    axes, node, rack = KNOWN[NAMES[number]] if number >= 0 else _drawn(rng)
    sizes = {axis: size for axis, (size, _, _) in axes.items()}
    traffic = {axis: (pattern, WHOLE * many) for axis, (_, pattern, many) in axes.items()}
    orders = [list(order) for order in itertools.permutations(sizes)]
    asked = [orders[int(at)] for at in rng.permutation(len(orders))[:4]]
    rest = (sizes, traffic, node, rack)
    return {
        "calls": {
            "bytes": [("link_bytes", order, *rest) for order in asked],
            "order": [("placement", *rest)],
        }
    }


def right_bytes(
    order: Sequence[str],
    sizes: dict[str, int],
    traffic: dict[str, tuple[str, int]],
    node: int,
    rack: int,
) -> tuple[int, ...]:
    """Returns the bytes in nodes, between nodes of a rack, and between racks."""
    cost = link_bytes(
        Mesh.ordered(order, sizes),
        Cluster(node, rack),
        {axis: Traffic(*sent) for axis, sent in traffic.items()},
    )
    return tuple(round(sum(links[link] for links in cost.values())) for link in LINKS)


def _rest(inputs: Values) -> tuple[Any, ...]:
    _, *rest = inputs["calls"]["order"][0]
    return tuple(rest)


def best(inputs: Values) -> list[int]:
    """Returns the bytes between racks and between nodes of a best order, found among all orders."""
    sizes, *_ = _rest(inputs)
    return min(_slow(order, inputs) for order in itertools.permutations(sizes))


def _slow(order: Sequence[str], inputs: Values) -> list[int]:
    _, between_nodes, between_racks = right_bytes(order, *_rest(inputs))
    return [between_racks, between_nodes]


def _reference(inputs: Values, case: Case) -> Values:
    found = [right_bytes(*call[1:]) for call in inputs["calls"]["bytes"]]
    return {"bytes": found, "slow_bytes": best(inputs)}


def _follow(inputs: Values, case: Case, got: Values) -> Values:
    sizes = _rest(inputs)[0]
    (order,) = got["order"]
    if not isinstance(order, list | tuple) or not all(isinstance(axis, str) for axis in order):
        raise Unusable(f"placement returned {order!r:.40}, no list of axes", "wrong-form")
    if sorted(order) != sorted(sizes):
        said = f"placement returned {', '.join(order):.40}; the axes are {', '.join(sizes)}"
        raise Unusable(said, "not-all-axes")
    return {"bytes": got["bytes"], "order": list(order), "slow_bytes": _slow(order, inputs)}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    results = got["bytes"]
    threes = all(isinstance(each, list | tuple) and len(each) == len(LINKS) for each in results)
    return None if threes else "not-three"


def _call(inputs: Values) -> str:
    """All calls in one line: a message names the place of the wrong one in the list."""
    sizes, traffic, node, rack = _rest(inputs)
    orders = "; ".join(" ".join(order) for _, order, *_ in inputs["calls"]["bytes"])
    return (
        f"placement({sizes}, {traffic}, {node}, {rack}), and link_bytes of these with the orders "
        f"{orders}"
    )


PLACEMENT = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.puzzle.harness.refusing",
    cases=tuple(Case(name, {"number": n}, n == 0) for n, name in enumerate(NAMES)),
    random_case=lambda rng: Case("axes drawn at random", {"number": -1}),
    inputs=_inputs,
    reference=_reference,
    follow=_follow,
    diagnose=_diagnose,
    call=_call,
)

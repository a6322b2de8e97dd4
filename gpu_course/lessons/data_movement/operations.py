"""Chains of operations, what travels for each group of them, and the best way to group them.

An operation is a dict with its name, its kind, and the names of the tensors it reads and writes. A
group becomes one kernel. Of its kinds a "contraction" (a product of matrices) has its results in
registers, tile by tile: what follows it in its group can only be a "map" (each number by itself).
A "row" operation (softmax, a norm) needs whole rows, so it goes with maps and other row operations.

Source: Ivanov, Dryden, Ben-Nun, Li and Hoefler, "Data Movement Is All You Need" (2020), section 4:
the three classes, and which of them fuse.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

Operation = Mapping[str, Any]

MAP, ROW, CONTRACTION = "map", "row", "contraction"


def bytes_of_groups(
    operations: Sequence[Operation],
    sizes: Mapping[str, int],
    keep: Sequence[str],
    groups: Sequence[Sequence[int]],
) -> list[int]:
    """Returns the bytes that each group moves: what it reads from outside, and what it leaves.

    Args:
        operations: in an order in which they can run.
        sizes: bytes of each tensor.
        keep: tensors that must be in memory in the end.
        groups: numbers of operations, group by group.
    """
    home = {number: turn for turn, group in enumerate(groups) for number in group}
    wanted: dict[str, set[int]] = {}
    for number, operation in enumerate(operations):
        for name in operation["reads"]:
            wanted.setdefault(name, set()).add(home[number])
    found = []
    for turn, group in enumerate(groups):
        made = {name for number in group for name in operations[number]["writes"]}
        needed = {name for number in group for name in operations[number]["reads"]} - made
        left = {name for name in made if name in keep or wanted.get(name, set()) - {turn}}
        found.append(sum(sizes[name] for name in needed) + sum(sizes[name] for name in left))
    return found


def may_fuse(kinds: Sequence[str]) -> bool:
    """True where operations of these kinds, one after the other, can be one kernel.

    >>> may_fuse(["contraction", "map", "map"]), may_fuse(["map", "contraction"])
    (True, False)
    >>> may_fuse(["map", "row", "map", "row"]), may_fuse(["contraction", "map", "row"])
    (True, False)
    """
    later = kinds[1:]
    if CONTRACTION in later:
        return False
    return kinds[0] != CONTRACTION or ROW not in later


def fewest_bytes(
    operations: Sequence[Operation], sizes: Mapping[str, int], keep: Sequence[str]
) -> int:
    """Returns the bytes of the best grouping into kernels of consecutive operations."""
    return _best(operations, sizes, keep)[0]


def best_groups(
    operations: Sequence[Operation], sizes: Mapping[str, int], keep: Sequence[str]
) -> list[list[int]]:
    """Returns one grouping into kernels of consecutive operations that moves the fewest bytes."""
    return _best(operations, sizes, keep)[1]


def longest_groups(operations: Sequence[Operation]) -> list[list[int]]:
    """Returns the grouping in which each kernel takes along all that may follow in it."""
    groups: list[list[int]] = [[0]]
    for number in range(1, len(operations)):
        longer = [*groups[-1], number]
        if may_fuse([operations[each]["kind"] for each in longer]):
            groups[-1] = longer
        else:
            groups.append([number])
    return groups


def _best(
    operations: Sequence[Operation], sizes: Mapping[str, int], keep: Sequence[str]
) -> tuple[int, list[list[int]]]:
    """The fewest bytes, and groups that come to them."""
    kinds = [operation["kind"] for operation in operations]

    def cost(first: int, last: int) -> int:
        before, after = range(first), range(last, len(operations))
        groups = [*([k] for k in before), list(range(first, last)), *([k] for k in after)]
        return bytes_of_groups(operations, sizes, keep, groups)[first]

    @cache
    def least(first: int) -> tuple[int, tuple[int, ...]]:
        """The bytes from an operation on, and where its groups end."""
        if first == len(operations):
            return 0, ()
        ends = (e for e in range(first + 1, len(operations) + 1) if may_fuse(kinds[first:e]))
        return min((cost(first, end) + least(end)[0], (end, *least(end)[1])) for end in ends)

    moved, ends = least(0)
    return moved, [list(range(a, b)) for a, b in itertools.pairwise((0, *ends))]


def drawn_chain(rng: np.random.Generator, length: int) -> dict[str, Any]:
    """Returns a chain with skips, drawn at random: its operations, sizes and what is kept."""
    kinds = rng.choice([MAP, MAP, MAP, ROW, CONTRACTION], length)
    operations: list[dict[str, Any]] = []
    sizes = {"x0": int(rng.integers(1, 9)) * 64}
    for number, kind in enumerate(kinds):
        reads = [f"x{number}"]
        if kind == CONTRACTION:
            reads.append(f"w{number}")
            sizes[f"w{number}"] = int(rng.integers(1, 9)) * 32
        elif number > 1 and rng.random() < 0.4:
            reads.append(f"x{int(rng.integers(0, number))}")
        writes = [f"x{number + 1}"]
        if kind == MAP and rng.random() < 0.2:
            writes.append(f"mask{number}")
            sizes[f"mask{number}"] = int(rng.integers(1, 5)) * 16
        sizes[f"x{number + 1}"] = int(rng.integers(1, 9)) * 64
        operations.append(
            {"name": f"op{number}", "kind": str(kind), "reads": reads, "writes": writes}
        )
    keep = [f"x{length}", *(name for name in sizes if name.startswith("mask"))]
    if length > 2:
        keep.append(f"x{int(rng.integers(1, length))}")
    return {"operations": operations, "sizes": sizes, "keep": sorted(set(keep))}


def encoder_layer(tokens: int, hidden: int, heads: int, inner: int, width: int) -> dict[str, Any]:
    """Returns the forward operations of a transformer's layer, with what its backward needs kept.

    Args:
        tokens: rows of the batch, all of one sequence.
        hidden, heads, inner: widths of the layer; `inner` is that of the MLP.
        width: bytes of a number.
    """
    row, mlp = tokens * hidden * width, tokens * inner * width
    scores = heads * tokens * tokens * width
    operations = [
        ("qkv", CONTRACTION, ["x", "w_qkv"], ["qkv"]),
        ("qkv bias", MAP, ["qkv", "b_qkv"], ["qkv_b"]),
        ("scores", CONTRACTION, ["qkv_b"], ["s"]),
        ("scale", MAP, ["s"], ["s_scaled"]),
        ("softmax", ROW, ["s_scaled"], ["p"]),
        ("attention dropout", MAP, ["p"], ["p_drop"]),
        ("values", CONTRACTION, ["p_drop", "qkv_b"], ["context"]),
        ("projection", CONTRACTION, ["context", "w_out"], ["y"]),
        ("projection bias", MAP, ["y", "b_out"], ["y_b"]),
        ("dropout", MAP, ["y_b"], ["y_drop"]),
        ("residual", MAP, ["y_drop", "x"], ["r"]),
        ("layer norm", ROW, ["r", "g"], ["n"]),
        ("up", CONTRACTION, ["n", "w_up"], ["u"]),
        ("up bias", MAP, ["u", "b_up"], ["u_b"]),
        ("gelu", MAP, ["u_b"], ["a"]),
        ("down", CONTRACTION, ["a", "w_down"], ["d"]),
        ("down bias", MAP, ["d", "b_down"], ["d_b"]),
        ("second residual", MAP, ["d_b", "r"], ["out"]),
    ]
    sizes = dict.fromkeys(["x", "y", "y_b", "y_drop", "r", "n", "d", "d_b", "out", "context"], row)
    sizes |= dict.fromkeys(["s", "s_scaled", "p", "p_drop"], scores)
    sizes |= dict.fromkeys(["u", "u_b", "a"], mlp) | dict.fromkeys(["qkv", "qkv_b"], 3 * row)
    square = hidden * hidden * width
    sizes |= {"w_qkv": 3 * square, "w_out": square}
    sizes |= dict.fromkeys(["w_up", "w_down"], hidden * inner * width)
    sizes |= {"b_qkv": 3 * hidden * width, "b_up": inner * width}
    sizes |= dict.fromkeys(["b_out", "b_down", "g"], hidden * width)
    return {
        "operations": [
            {"name": name, "kind": kind, "reads": reads, "writes": writes}
            for name, kind, reads, writes in operations
        ],
        "sizes": sizes,
        "keep": ["a", "context", "n", "out", "p", "p_drop", "qkv_b", "r", "u_b"],
    }

"""Puzzle `traffic`: what travels for each kernel of a chain."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from gpu_course.lessons.data_movement.operations import (
    bytes_of_groups,
    drawn_chain,
    encoder_layer,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values


def _operation(name: str, reads: str, writes: str) -> dict[str, Any]:
    return {"name": name, "kind": "map", "reads": reads.split(), "writes": writes.split()}


def _example() -> dict[str, Any]:
    operations = [
        _operation("bias", "x b", "s"),
        _operation("gelu", "s", "a"),
        _operation("dropout", "a", "d mask"),
        _operation("residual", "d x", "out"),
    ]
    sizes = {"x": 400, "b": 40, "s": 400, "a": 400, "d": 400, "mask": 100, "out": 400}
    return {
        "operations": operations,
        "sizes": sizes,
        "keep": ["out", "s"],
        "groups": [[0, 1], [2, 3]],
    }


def _grouped(rng: np.random.Generator, chain: dict[str, Any]) -> dict[str, Any]:
    """Any groups of consecutive operations; their lists are shuffled within."""
    count = len(chain["operations"])
    cuts = sorted(set(rng.integers(1, count, count // 2).tolist())) if count > 1 else []
    edges = [0, *cuts, count]
    groups = [
        rng.permutation(np.arange(first, end)).tolist() for first, end in itertools.pairwise(edges)
    ]
    return {**chain, "groups": groups}


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    s = case.sizes
    if s.get("example"):
        return _example()
    if s.get("layer"):
        return _grouped(rng, encoder_layer(64, 48, 4, 192, 2))
    chain = drawn_chain(rng, s["length"])
    if s.get("one"):
        return {**chain, "groups": [list(range(s["length"]))]}
    if s.get("apart"):
        return {**chain, "groups": [[number] for number in range(s["length"])]}
    return _grouped(rng, chain)


def _case(name: str, *, visible: bool = False, **sizes: int) -> Case:
    return Case(name, sizes, visible)


TRAFFIC = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", visible=True, example=1),
        _case("one operation", length=1),
        _case("each operation a kernel", length=7, apart=1),
        _case("one kernel for all", length=6, one=1),
        _case("groups of any size", length=9),
        _case("a long chain", length=16),
        _case("a transformer's layer", layer=1),
    ),
    random_case=lambda rng: _case("a chain drawn at random", length=int(rng.integers(5, 14))),
    inputs=_inputs,
    reference=lambda inputs, case: {"result": bytes_of_groups(**inputs)},
)

"""Puzzle `best_fusion`: the kernels of a chain that move the fewest bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.lessons.data_movement.operations import (
    CONTRACTION,
    MAP,
    ROW,
    bytes_of_groups,
    drawn_chain,
    encoder_layer,
    fewest_bytes,
    may_fuse,
)
from gpu_course.puzzle.harness import Unusable
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values


def _chain(kinds: list[str], sizes: list[int], weights: int = 64) -> dict[str, Any]:
    """A chain without skips: x0 -> x1 -> ... of these bytes."""
    operations = [
        {
            "name": f"op{k}",
            "kind": kind,
            "reads": [f"x{k}"] + ([f"w{k}"] if kind == CONTRACTION else []),
            "writes": [f"x{k + 1}"],
        }
        for k, kind in enumerate(kinds)
    ]
    named = {f"x{k}": size for k, size in enumerate(sizes)}
    named |= {f"w{k}": weights for k, kind in enumerate(kinds) if kind == CONTRACTION}
    return {"operations": operations, "sizes": named, "keep": [f"x{len(kinds)}"]}


def _narrow_early() -> dict[str, Any]:
    """The product's group should end at once: what follows it is twice as wide."""
    return _chain([CONTRACTION, MAP, ROW, MAP], [256, 128, 512, 512, 128])


def _narrow_late() -> dict[str, Any]:
    """The product should take the map along: its result is half as wide."""
    return _chain([CONTRACTION, MAP, ROW, MAP], [256, 512, 128, 512, 512])


def _kept(kept: int, free: int) -> dict[str, Any]:
    """The product's result is kept: a kernel that takes the map along spares its reading alone."""
    chain = _chain([CONTRACTION, MAP, ROW], [256, kept, free, 256])
    return {**chain, "keep": ["x1", "x3"]}


_FIXED = {
    1: _narrow_early,
    2: _narrow_late,
    3: lambda: _kept(320, 192),
    4: lambda: _kept(512, 192),
}


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    s = case.sizes
    if kind := s.get("fixed"):
        return _FIXED[kind]()
    if s.get("layer"):
        return encoder_layer(s["layer"], 48, 4, 192, 2)
    return drawn_chain(rng, s["length"])


def _follow(inputs: Values, case: Case, got: Values) -> Values:
    groups, count = got["result"], len(inputs["operations"])
    if not isinstance(groups, list | tuple) or not all(
        isinstance(group, list | tuple) and group for group in groups
    ):
        raise Unusable("best_fusion returned what is no list of groups, each a list of numbers")
    numbers = [number for group in groups for number in group]
    if not all(type(number) is int for number in numbers):
        raise Unusable("a group holds what is no number of an operation")
    if numbers != list(range(count)):
        raise Unusable(
            f"the groups hold {', '.join(map(str, numbers))}; there are operations 0 to "
            f"{count - 1}, each once and in order",
            "not-in-order",
        )
    return {"result": [list(group) for group in groups]}


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    operations, groups = inputs["operations"], got["result"]
    for group in groups:
        kinds = [operations[number]["kind"] for number in group]
        if not may_fuse(kinds):
            fact = f"operations {group[0]} to {group[-1]} are one kernel: {', '.join(kinds)}"
            return Judgement("cannot-fuse", fact)
    moved = sum(bytes_of_groups(**inputs, groups=groups))
    least = fewest_bytes(**inputs)
    if moved == least:
        return None
    key = "apart" if len(groups) == len(operations) > 1 else "not-the-best"
    fact = f"{moved:,} bytes travel; {least:,} are enough"
    return Judgement(key, fact, "over-budget")


def _case(name: str, *, visible: bool = False, **sizes: int) -> Case:
    return Case(name, sizes, visible)


BEST_FUSION = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example: narrow after the product", visible=True, fixed=1),
        _case("narrow after the map", fixed=2),
        _case("a wide result that has to be written anyway", fixed=3),
        _case("one so wide that its reading is worth sparing", fixed=4),
        _case("one operation", length=1),
        _case("two operations", length=2),
        _case("a chain of nine", length=9),
        _case("a chain of twelve", length=12),
        _case("a chain of eighteen", length=18),
        _case("a transformer's layer, a short sequence", layer=16),
        _case("a transformer's layer, a long sequence", layer=256),
    ),
    random_case=lambda rng: _case("a chain drawn at random", length=int(rng.integers(6, 16))),
    inputs=_inputs,
    reference=lambda inputs, case: {},
    follow=_follow,
    judge=_judge,
)

"""Puzzle `balance`: cut a row of layers so that the slowest stage is as fast as can be."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.harness import Unusable
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

_EVEN, _RAGGED, _HEAVY_ENDS, _RISING, _ONE_GIANT = range(5)


def _case(name: str, layers: int, ranks: int, kind: int, visible: bool = False) -> Case:
    return sized(name, visible=visible, layers=layers, ranks=ranks, kind=kind)


def _random_case(rng: np.random.Generator) -> Case:
    layers = int(rng.integers(3, 14))
    return _case("drawn at random", layers, int(rng.integers(1, layers + 1)), _RAGGED)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    layers, kind = case.sizes["layers"], case.sizes["kind"]
    costs = [int(each) for each in rng.integers(3, 30, layers)]
    if kind == _EVEN:
        costs = [costs[0]] * layers
    elif kind == _HEAVY_ENDS:
        costs = [41, *([12] * (layers - 2)), 67]
    elif kind == _RISING:
        costs = sorted(costs)
    elif kind == _ONE_GIANT:
        costs[layers // 2] = 400
    return {"costs": costs, "ranks": case.sizes["ranks"]}


def least_of_the_largest(costs: tuple[int, ...], ranks: int) -> int:
    """Returns the cost of the slowest stage in the best cut, by trying each end of the last one."""

    @cache
    def best(layers: int, stages: int) -> int:
        if stages == 1:
            return sum(costs[:layers])
        cuts = range(stages - 1, layers)
        return min(max(best(cut, stages - 1), sum(costs[cut:layers])) for cut in cuts)

    return best(len(costs), ranks)


def _reference(inputs: Values, case: Case) -> Values:
    return {"slowest": least_of_the_largest(tuple(inputs["costs"]), inputs["ranks"])}


def _follow(inputs: Values, case: Case, got: Values) -> Values:
    sizes, layers = got["result"], len(inputs["costs"])
    _check(sizes, layers, inputs["ranks"])
    ends = np.cumsum(sizes)
    stages = [sum(inputs["costs"][end - size : end]) for size, end in zip(sizes, ends, strict=True)]
    return {"sizes": [int(each) for each in sizes], "stages": stages, "slowest": max(stages)}


def _check(sizes: Any, layers: int, ranks: int) -> None:
    if not isinstance(sizes, list | tuple | np.ndarray) or any(
        isinstance(each, bool) or not isinstance(each, int | np.integer) for each in sizes
    ):
        raise Unusable(f"it returned {sizes!r:.50}, no list of whole numbers", "wrong-form")
    if len(sizes) != ranks:
        raise Unusable(f"it made {len(sizes)} stages for {ranks} ranks", "stages")
    if min(sizes) < 1:
        raise Unusable(f"the stages have {list(sizes)} layers, and one of them none", "empty-stage")
    if sum(sizes) != layers:
        raise Unusable(f"the stages have {sum(sizes)} layers, and there are {layers}", "layers")


BALANCE = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", 8, 3, _RAGGED, visible=True),
        _case("embedding and head", 14, 4, _HEAVY_ENDS),
        _case("all alike", 10, 4, _EVEN),
        _case("rising", 12, 5, _RISING),
        _case("one giant", 9, 4, _ONE_GIANT),
        _case("one rank", 5, 1, _RAGGED),
        _case("as many ranks as layers", 6, 6, _RAGGED),
        _case("one layer", 1, 1, _RAGGED),
        _case("many layers", 120, 16, _RAGGED),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    follow=_follow,
    seconds=10.0,
)

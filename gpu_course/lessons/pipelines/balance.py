"""Puzzle `balance`: cut a row of layers so that the slowest stage is as fast as can be."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.lessons.pipelines.cuts import best_cut, stage_costs
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.harness import Unusable
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

_EVEN, _RAGGED, _HEAVY_ENDS, _RISING, _ONE_GIANT, _SMALL, _A_GPT = range(7)
A_GPT = (515, 7624, 7739, 7600, 7664, 7760, 7571, 7694, 7671, 7708, 7595, 7653, 7703, 18251)
"""Microseconds that `measured_layer_costs` found on one machine: 12 layers of 256, 8,000 tokens."""


def _case(name: str, layers: int, ranks: int, kind: int, visible: bool = False) -> Case:
    return sized(name, visible=visible, layers=layers, ranks=ranks, kind=kind)


def _random_case(rng: np.random.Generator) -> Case:
    layers = int(rng.integers(3, 14))
    return _case("drawn at random", layers, int(rng.integers(1, layers + 1)), _RAGGED)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    layers, kind = case.sizes["layers"], case.sizes["kind"]
    if kind == _A_GPT:
        return {"costs": list(A_GPT), "ranks": case.sizes["ranks"]}
    costs = [int(each) for each in rng.integers(3, 30, layers)]
    if kind == _EVEN:
        costs = [costs[0]] * layers
    elif kind == _HEAVY_ENDS:
        costs = [41, *([12] * (layers - 2)), 67]
    elif kind == _RISING:
        costs = sorted(costs)
    elif kind == _SMALL:
        costs = [1, *(1 + each % 3 for each in costs[1:])]
    elif kind == _ONE_GIANT:
        costs[layers // 2] = 400
    return {"costs": costs, "ranks": case.sizes["ranks"]}


def _reference(inputs: Values, case: Case) -> Values:
    if inputs["ranks"] > len(inputs["costs"]):
        return {"slowest": 0}
    costs = inputs["costs"]
    return {"slowest": max(stage_costs(costs, best_cut(costs, inputs["ranks"])))}


def _follow(inputs: Values, case: Case, got: Values) -> Values:
    sizes, layers = got["result"], len(inputs["costs"])
    _check(sizes, layers, inputs["ranks"])
    if inputs["ranks"] > layers:
        return {"sizes": [], "stages": [], "slowest": 0}
    sizes = [int(each) for each in sizes]
    stages = stage_costs(inputs["costs"], sizes)
    return {"sizes": sizes, "stages": stages, "slowest": max(stages)}


def _check(sizes: Any, layers: int, ranks: int) -> None:
    flat = isinstance(sizes, list | tuple) or (isinstance(sizes, np.ndarray) and sizes.ndim == 1)
    if not flat or any(
        isinstance(each, bool) or not isinstance(each, int | np.integer) for each in sizes
    ):
        raise Unusable(f"it returned {sizes!r:.50}, no list of whole numbers", "wrong-form")
    if ranks > layers:
        if len(sizes):
            fact = f"it made {len(sizes)} stages, and {ranks} ranks cannot share {layers} layers"
            raise Unusable(fact, "too-many-ranks")
        return
    if len(sizes) != ranks:
        raise Unusable(f"it made {len(sizes)} stages for {ranks} ranks", "stages")
    if min(sizes) < 1:
        fact = f"stage {[each < 1 for each in sizes].index(True)} has no layer"
        raise Unusable(fact, "empty-stage")
    if max(sizes) > layers or sum(map(int, sizes)) != layers:
        raise Unusable(f"the stages together do not have {layers} layers", "layers")


BALANCE = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", 11, 3, _RAGGED, visible=True),
        _case("embedding and head", 14, 4, _HEAVY_ENDS),
        _case("all alike", 10, 4, _EVEN),
        _case("rising", 12, 5, _RISING),
        _case("one giant", 9, 4, _ONE_GIANT),
        _case("one rank", 5, 1, _RAGGED),
        _case("as many ranks as layers", 6, 6, _RAGGED),
        _case("one layer", 1, 1, _RAGGED),
        _case("many layers", 120, 16, _RAGGED),
        _case("small numbers", 13, 4, _SMALL),
        _case("a GPT", len(A_GPT), 4, _A_GPT),
        _case("more ranks than layers", 3, 5, _RAGGED),
        _case("no layer", 0, 1, _RAGGED),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    follow=_follow,
    seconds=4.0,
)

"""Puzzle `in_flight`: the most that each rank holds, read from a table of orders."""

from __future__ import annotations

import numpy as np

from gpu_course.measure.pipelines import orders
from gpu_course.measure.pipelines.actions import Schedule
from gpu_course.measure.pipelines.timing import Costs, simulate
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

_GPIPE, _ONE_F_ONE_B, _INTERLEAVED, _BREADTH_FIRST, _ZB_H1, _ZB_H2 = range(6)


def _case(
    name: str, kind: int, ranks: int, microbatches: int, chunks: int = 1, visible: bool = False
) -> Case:
    return sized(
        name, visible=visible, kind=kind, ranks=ranks, microbatches=microbatches, chunks=chunks
    )


def _random_case(rng: np.random.Generator) -> Case:
    kind, ranks = int(rng.integers(0, 6)), int(rng.integers(2, 6))
    return _case("drawn at random", kind, ranks, ranks * int(rng.integers(1, 4)), 2)


def _schedule(case: Case) -> Schedule:
    s = case.sizes
    ranks, microbatches, chunks = s["ranks"], s["microbatches"], s["chunks"]
    with_chunks = {_INTERLEAVED: orders.interleaved, _BREADTH_FIRST: orders.breadth_first}
    if s["kind"] in with_chunks:
        return with_chunks[s["kind"]](ranks, microbatches, chunks)
    made = (orders.gpipe, orders.one_f_one_b, orders.gpipe, orders.gpipe, orders.zb_h1)
    return (*made, orders.zb_h2)[s["kind"]](ranks, microbatches)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    schedule = _schedule(case)
    activations = [int(each) for each in rng.integers(20, 90, schedule.stages)]
    return {
        "orders": [[str(action) for action in order] for order in schedule.orders],
        "activations": activations,
        "kept": [int(each * share) for each, share in zip(
            activations, rng.uniform(0.2, 0.7, schedule.stages), strict=True
        )],
    }  # fmt: skip


def _reference(inputs: Values, case: Case) -> Values:
    activations, kept = inputs["activations"], inputs["kept"]
    costs = Costs(activation=activations.__getitem__, kept=kept.__getitem__)
    return {"result": [int(peak) for peak in simulate(_schedule(case), costs).peaks]}


IN_FLIGHT = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", _ZB_H1, 2, 3, visible=True),
        _case("fill and drain", _GPIPE, 3, 4),
        _case("one forward, one backward", _ONE_F_ONE_B, 4, 6),
        _case("two stages on a rank", _INTERLEAVED, 2, 4, 2),
        _case("three stages on a rank", _BREADTH_FIRST, 2, 3, 3),
        _case("twice the memory", _ZB_H2, 4, 9),
        _case("one rank, one microbatch", _ONE_F_ONE_B, 1, 1),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
)

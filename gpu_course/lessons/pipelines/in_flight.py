"""Puzzle `in_flight`: the most that each rank holds, read from a table of orders."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from gpu_course.measure.pipelines import orders
from gpu_course.measure.pipelines.actions import (
    BACKWARD,
    FORWARD,
    INPUT,
    WEIGHT,
    Action,
    Schedule,
    looped,
    parse,
)
from gpu_course.measure.pipelines.rules import as_needed, needs
from gpu_course.measure.pipelines.timing import Costs
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

_GPIPE, _ONE_F_ONE_B, _INTERLEAVED, _BREADTH_FIRST, _ZB_H1, _ZB_H2, _WANDERS, _BREAKS_OFF = range(8)


def _case(
    name: str, kind: int, ranks: int, microbatches: int, chunks: int = 1, visible: bool = False
) -> Case:
    return sized(
        name, visible=visible, kind=kind, ranks=ranks, microbatches=microbatches, chunks=chunks
    )


def _random_case(rng: np.random.Generator) -> Case:
    kind, ranks = int(rng.integers(0, 8)), int(rng.integers(2, 6))
    return _case("drawn at random", kind, ranks, ranks * int(rng.integers(1, 4)), 2)


def _schedule(case: Case, rng: np.random.Generator) -> Schedule:
    s = case.sizes
    ranks, microbatches, chunks = s["ranks"], s["microbatches"], s["chunks"]
    if s["kind"] in (_WANDERS, _BREAKS_OFF):
        whole = wandering(rng, ranks, microbatches, chunks)
        return whole if s["kind"] == _WANDERS else _broken_off(whole)
    with_chunks = {_INTERLEAVED: orders.interleaved, _BREADTH_FIRST: orders.breadth_first}
    if s["kind"] in with_chunks:
        return with_chunks[s["kind"]](ranks, microbatches, chunks)
    made = (orders.gpipe, orders.one_f_one_b, orders.gpipe, orders.gpipe, orders.zb_h1)
    return (*made, orders.zb_h2)[s["kind"]](ranks, microbatches)


def wandering(rng: np.random.Generator, ranks: int, microbatches: int, chunks: int) -> Schedule:
    """Returns a schedule that can run and follows no rule: whatever can be done may come next.

    About half of the backward passes are split.

    Args:
        rng: draws what comes next.
        ranks, microbatches, chunks: of the pipeline.
    """
    placement = looped(ranks, chunks)
    left: list[Action] = []
    for stage in range(len(placement)):
        for each in range(microbatches):
            back = (INPUT, WEIGHT) if rng.random() < 0.5 else (BACKWARD,)
            left += [Action(stage, kind, each) for kind in (FORWARD, *back)]
    done: set[Action] = set()
    made: list[list[str]] = [[] for _ in range(ranks)]
    while left:
        ready = [each for each in left if done.issuperset(needs(each, len(placement)))]
        action = ready[int(rng.integers(len(ready)))]
        left.remove(action)
        done.add(as_needed(action))
        made[placement[action.stage]].append(str(action))
    return parse(made, placement, microbatches)


def _broken_off(schedule: Schedule) -> Schedule:
    """Returns orders that end with a forward pass; the last rank has not begun."""
    kept = []
    for order in schedule.orders[:-1]:
        last = max(step for step, action in enumerate(order) if action.kind == FORWARD)
        kept.append(order[: last + 1])
    return Schedule(schedule.placement, (*kept, ()), schedule.microbatches)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    schedule = _schedule(case, rng)
    activations = [int(each) for each in rng.integers(20, 90, schedule.stages)]
    return {
        "orders": [[str(action) for action in order] for order in schedule.orders],
        "activations": activations,
        "kept": [int(each * share) for each, share in zip(
            activations, rng.uniform(0.2, 0.7, schedule.stages), strict=True
        )],
    }  # fmt: skip


def _reference(inputs: Values, case: Case) -> Values:
    costs = Costs(activation=inputs["activations"].__getitem__, kept=inputs["kept"].__getitem__)
    table = parse(inputs["orders"]).orders
    changes = [[int(costs.memory(action)) for action in order] for order in table]
    return {"result": [float(max(accumulate(each, initial=0))) for each in changes]}


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
        _case("no rule", _WANDERS, 3, 6, 2),
        _case("more than nine stages", _WANDERS, 2, 5, 6),
        _case("broken off", _BREAKS_OFF, 4, 5, 2),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
)

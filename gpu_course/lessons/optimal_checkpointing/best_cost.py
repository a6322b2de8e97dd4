"""Puzzle `best_cost`: the least cost in a memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.lessons.optimal_checkpointing import rotor_chains as chains
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values


def _costed(name: str, stages: int, percent: int, visible: bool = False, below: int = 0) -> Case:
    return Case(name, {"stages": stages, "percent": percent, "below": below}, visible)


def _random_costed(rng: np.random.Generator) -> Case:
    percent = int(rng.integers(5, 80))
    return _costed("a chain drawn at random", int(rng.integers(4, 8)), percent)


def _cost_inputs(rng: np.random.Generator, case: Case) -> Values:
    if case.name in chains.BY_HAND:
        stages, memory = chains.by_hand(case.name), chains.MEMORY_BY_HAND[case.name]
    else:
        stages = chains.at_random(rng, case.sizes["stages"])
        memory = chains.memory_between(stages, case.sizes["percent"])
    return {"stages": stages, "memory": memory - case.sizes["below"]}


def _least(stages: Any, memory: int) -> float:
    from gpu_course.lessons.optimal_checkpointing.dynamic_program import solve

    return solve(chains.chain_of(stages), memory).best_cost()


def _cost_reference(inputs: Values, case: Case) -> Values:
    return {"result": _least(inputs["stages"], inputs["memory"])}


def _cost_diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    found, right = got["result"], expected["result"]
    if right == np.inf:
        return "nothing-fits"
    return "too-cheap" if found < right else "too-expensive"


def _too_cheap_a_schedule(
    inputs: Values, case: Case, expected: Values, got: Values
) -> Values | None:
    """A schedule of the cost that was returned: it needs more memory than there is."""
    from gpu_course.lessons.optimal_checkpointing.dynamic_program import solve
    from gpu_course.measure.schedules.operations import account
    from gpu_course.measure.schedules.plans import keep_everything
    from gpu_course.measure.schedules.written import written

    stages, memory, claimed = inputs["stages"], inputs["memory"], got["result"]
    if claimed >= expected["result"]:
        return None
    chain = chains.chain_of(stages)
    table = solve(chain, account(chain, keep_everything(len(chain))).peak)
    enough = next((m for m in range(table.memory + 1) if table.best_cost(m) <= claimed), None)
    if enough is None:
        return None  # Cheaper than any schedule, in whatever memory.
    schedule = table.schedule(enough)
    found = account(chain, schedule)
    rises = list(found.rises)
    at = next(n for n, rise in enumerate(rises) if rise > memory)
    return {
        "schedule": written(schedule),
        "rises": rises,
        "broken": f"a schedule of cost {found.cost} rises to {rises[at]} at operation {at} "
        f"({schedule[at]}); the memory is {memory}",
        "at": at,
        "budget": memory,
        "unit": "units",
    }


BEST_COST = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        # On this one each thing that can be forgotten leads to another cost.
        _costed("the batch takes nothing", 5, 0, visible=True),
        _costed("one stage", 1, 50),
        _costed("the least memory", 7, 0),
        _costed("one unit less than the least", 6, 0, below=1),
        _costed("room for nearly all", 8, 85),
        _costed("room for all", 6, 100),
        _costed("room to run forward", len(chains.BY_HAND["room to run forward"]), 0),
    ),
    random_case=_random_costed,
    inputs=_cost_inputs,
    reference=_cost_reference,
    shown=_too_cheap_a_schedule,
    call=lambda inputs: chains.as_called(
        {"arguments": [inputs["stages"], inputs["memory"]]}, "best_cost"
    ),
    diagnose=_cost_diagnose,
)

"""Puzzle `best_cost`: the least cost in a memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.lessons.optimal_checkpointing import rotor_chains as chains
from gpu_course.puzzle.specification import Case, Debrief, Mistake, PythonPuzzle, Values


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
    from gpu_course.measure.schedules.rotor import solve

    return solve(chains.chain_of(stages), memory).best_cost()


def _cost_reference(inputs: Values, case: Case) -> Values:
    return {"result": _least(inputs["stages"], inputs["memory"])}


def _cost_diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    stages, memory = inputs["stages"], inputs["memory"]
    found, right = got["result"], expected["result"]
    if right == np.inf:
        return "nothing-fits"
    for key, other in chains.forgetful(stages).items():
        if found == _least(other, memory):
            return key
    return "too-cheap" if found < right else "too-expensive"


def _too_cheap_a_schedule(
    inputs: Values, case: Case, expected: Values, got: Values
) -> Values | None:
    """A schedule of the cost that was returned: it needs more memory than there is."""
    from gpu_course.measure.schedules.operations import account
    from gpu_course.measure.schedules.plans import keep_everything
    from gpu_course.measure.schedules.rotor import solve
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


DEBRIEF = Debrief(
    shows=("result",),
    why=(
        "After its first move a part of the chain falls into smaller parts with memories of their "
        "own, and what is best for the whole is put together from what is best for them. So each "
        "part and memory is solved once."
    ),
    alternative=(
        "A table filled from short parts to long ones needs no recursion. Remembering by (s, t, m) "
        "visits only the memories that occur."
    ),
)

BEST_COST = PythonPuzzle(
    name="18_optimal_checkpointing/best_cost",
    title="the least cost in a memory",
    difficulty="hard",
    minutes=25,
    debrief=DEBRIEF,
    statement=(
        "Two ways to begin, and the better of them, for every part of the chain and every memory: "
        "write the recurrence, and return the least cost of the whole chain."
    ),
    parameters={"best_cost": ("stages", "memory")},
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
    diagnoses={
        "nothing-fits": (
            "No schedule fits in this memory: return math.inf. The least of no values at all is "
            "infinite, so begin each part with that and let a beginning lower it only if it fits."
        ),
        "no-gradients": (
            "It would be right if gradients took no memory. While stages s to t - 1 are worked on, "
            "the gradient of the output of t - 1 is there; in a backward pass that of the stage's "
            "own output is."
        ),
        "no-temporaries": (
            "It would be right if operators needed no room to work in: forward_bytes, "
            "forward_saving_bytes and backward_bytes say how far each operation rises."
        ),
        "too-cheap": (
            "No schedule is that cheap. Something is had for nothing: a checkpoint that takes no "
            "memory from the part behind it, saved values, or a stage that should run once more."
        ),
        "too-expensive": (
            "There is a cheaper schedule. Try both kinds of beginnings for every part, and for the "
            "first kind every place of the next checkpoint."
        ),
    },
    hints=(
        (
            "Write C(s, t, m), the least cost of stages s to t - 1 in a memory of m, as a function "
            "inside yours, with functools.cache above it: it calls itself for smaller parts."
        ),
        (
            "Save all of s: its forward and backward cost, plus the rest s+1 .. t-1 in m less the "
            "saved_bytes and output_bytes of s. Or keep its input and run to c: the forward costs "
            "of s to c - 1, plus C(c, t, m less the input of c), plus C(s, c, m)."
        ),
        (
            "A beginning is allowed if it fits: saving rises to the gradient of t - 1's output and "
            "forward_saving_bytes, going back to the stage's own gradient, output, saved and "
            "backward_bytes; running on, at each stage, to that first gradient, the stage's input "
            "(of s itself: nothing) and forward_bytes."
        ),
    ),
    mistakes=(
        Mistake("keeps_checkpoints_for_free", "wrong-result", "too-cheap"),
        Mistake("forgets_the_gradients", "wrong-result", "no-gradients"),
        Mistake("forgets_what_operators_need", "wrong-result", "no-temporaries"),
        Mistake("never_saves_ahead", "wrong-result", "too-expensive"),
        Mistake("never_keeps_an_input", "wrong-result", "too-expensive"),
        Mistake("counts_the_way_back_once_per_run", "wrong-result", "too-expensive"),
        Mistake("answers_zero_where_nothing_fits", "wrong-result", "nothing-fits"),
    ),
    equivalent_mutants={
        "best_cost:targets-swapped:taken, run = (0, 0)": "Both begin at 0.",
        **{
            f"best_cost:{mutant}": "A part with no room, or less than none, has no schedule anyway."
            for mutant in ("guard-dropped:if taken <= room:", "comparison:if taken < room:")
        },
    },
    source="Beaumont and others, arXiv 1911.13214, section 4",
)

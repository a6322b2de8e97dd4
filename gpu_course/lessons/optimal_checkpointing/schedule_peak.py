"""Puzzle `schedule_peak`: what a schedule takes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from gpu_course.lessons.optimal_checkpointing import rotor_chains as chains
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

PLANS = ("segments", "everything", "revolve", "best")
"""How the schedule of a case is made; a case names one by its number."""

DRAWN = 400
"""Where the seeds of the fixed chains begin."""


def _case(name: str, stages: int, plan: str, visible: bool = False, **more: int) -> Case:
    return Case(name, {"stages": stages, "plan": PLANS.index(plan), **more}, visible)


def _random_case(rng: np.random.Generator) -> Case:
    plan = PLANS[int(rng.integers(len(PLANS)))]
    return _case("a chain drawn at random", int(rng.integers(3, 9)), plan)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    from gpu_course.lessons.optimal_checkpointing.dynamic_program import solve
    from gpu_course.measure.schedules import plans
    from gpu_course.measure.schedules.written import written

    length, fixed = case.sizes["stages"], case.sizes.get("drawn")
    # Drawn once for all, so that each kind of operation decides somewhere.
    stages = chains.with_wide_rises(rng if fixed is None else np.random.default_rng(fixed), length)
    plan = PLANS[case.sizes["plan"]]
    if plan == "segments":
        schedule = plans.periodic(length, max(1, length // 2))
    elif plan == "everything":
        schedule = plans.keep_everything(length)
    elif plan == "revolve":
        schedule = plans.revolve(length, 2)
    else:
        memory = chains.memory_between(stages, 25)
        schedule = solve(chains.chain_of(stages), memory).schedule()
    return {"stages": stages, "schedule": written(schedule)}


def _reference(inputs: Values, case: Case) -> Values:
    found = _account(inputs["stages"], inputs["schedule"])
    return {"result": (found.peak, found.cost)}


def _as_called(inputs: Values) -> str:
    schedule = ", ".join(f"{word} {stage}" for word, stage in inputs["schedule"])
    given = chains.as_called({"arguments": [inputs["stages"], 0]}, "schedule_peak")
    return f"{given.replace(', 0)', ', schedule)', 1)}; schedule: {schedule}"


def _account(stages: Any, schedule: Any) -> Any:
    from gpu_course.measure.schedules.operations import account
    from gpu_course.measure.schedules.written import read

    return account(chains.chain_of(stages), read(schedule))


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    peak, right = got["result"][0], expected["result"][0]
    if peak == right:
        return "wrong-cost"
    return "let-go-too-late" if peak > right else "too-low"


def _where_it_differs(inputs: Values, case: Case, expected: Values, got: Values) -> Values | None:
    """The schedule that was given, and the first operation up to which the peak is another."""
    (peak, _), (right, _) = got["result"], expected["result"]
    if peak == right:
        return None  # The cost alone is wrong, and a picture of memory does not show it.
    rises = list(_account(inputs["stages"], inputs["schedule"]).rises)
    so_far = list(itertools.accumulate(rises, max))
    claimed = got["peaks"] if len(got["peaks"]) == len(rises) else []
    both = zip(claimed, so_far, strict=bool(claimed))
    at = next((n for n, (a, b) in enumerate(both) if a != b), None)
    if at is None:
        at, claimed = rises.index(right), []
    word, stage = inputs["schedule"][at]
    said = f"operation {at} ({word} {stage}) rises to {rises[at]}"
    if claimed:
        said += f", the peak so far is {so_far[at]}, and yours is {claimed[at]:g}"
    return {
        "schedule": inputs["schedule"],
        "rises": rises,
        "broken": said,
        "at": at,
        "claimed": claimed,
        "unit": "units",
    }


SCHEDULE_PEAK = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.optimal_checkpointing.harness.schedule_peak",
    cases=(
        _case("visible example: four stages in two segments", 4, "segments", visible=True),
        _case("one stage", 1, "everything"),
        *(
            _case(f"{words}, {stages} stages", stages, plan, drawn=DRAWN + stages)
            for plan, words in (
                ("everything", "everything kept"),
                ("segments", "segments"),
                ("revolve", "one stage saved at a time"),
                ("best", "the best schedule"),
            )
            for stages in (3, 4, 6, 7, 9)
        ),
    ),
    random_case=_random_case,
    inputs=_inputs,
    call=_as_called,
    reference=_reference,
    diagnose=_diagnose,
    shown=_where_it_differs,
)

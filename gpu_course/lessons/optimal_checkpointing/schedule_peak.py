"""Puzzle `schedule_peak`: what a schedule takes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from gpu_course.lessons.optimal_checkpointing import rotor_chains as chains
from gpu_course.puzzle.specification import Case, Debrief, Mistake, PythonPuzzle, Values

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
    from gpu_course.measure.schedules import plans
    from gpu_course.measure.schedules.rotor import solve
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
    stages, schedule = inputs["stages"], inputs["schedule"]
    (peak, cost), (right, right_cost) = got["result"], expected["result"]
    if peak == right and cost != right_cost:
        again = {s for word, s in schedule if word != "backward"}
        once = sum(stages[s]["forward_cost"] + stages[s]["backward_cost"] for s in again)
        return "each-stage-once" if cost == once else "wrong-cost"
    no_gradients = [{**stage, "output_gradient_bytes": 0} for stage in stages]
    if peak == _account(no_gradients, schedule).peak:
        return "no-gradient"
    if peak == max(_account(stages, schedule).held):
        return "afterwards"
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


DEBRIEF = Debrief(
    shows=("result",),
    why=(
        "What is in memory is a short list: kept inputs, saved stages, one gradient, and the input "
        "of the forward pass that runs. The peak is never between two operations but inside one, "
        "so the rise is added to what was there before it."
    ),
    alternative=(
        "Instead of adding everything up anew at each operation, one running sum can be corrected "
        "by what comes and goes. It is quicker, and easier to get wrong."
    ),
)

SCHEDULE_PEAK = PythonPuzzle(
    name="18_optimal_checkpointing/schedule_peak",
    title="what a schedule takes",
    difficulty="medium",
    minutes=15,
    debrief=DEBRIEF,
    statement=(
        "Follow a schedule with nothing but counting: the most memory in use at one time, and the "
        "cost of all its operations."
    ),
    parameters={"schedule_peak": ("stages", "schedule")},
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
    diagnoses={
        "no-gradient": (
            "It would be right if gradients took no memory. From the first operation on there is "
            "one: that of the loss, and later that of the output of the stage which goes back "
            "next."
        ),
        "afterwards": (
            "You count what is there after each operation. An operation needs room while it runs: "
            "look at what is there before it, and add how far it rises."
        ),
        "let-go-too-late": (
            "Too much: something is counted twice, or is still counted after it was let go of. "
            "What does a backward pass free, and what happens to a value that was only passed on?"
        ),
        "too-low": (
            "Too little: something in memory is left out. There are kept inputs, everything that "
            "was saved, the input of a forward pass, and a gradient; and the operation itself "
            "rises."
        ),
        "each-stage-once": (
            "The memory is right. In the cost each stage's forward pass counts once; the schedule "
            "runs some of them more often."
        ),
        "wrong-cost": (
            "The memory is right, the cost is not. Each operation costs something: a forward pass, "
            "whatever it keeps, its forward_cost, a backward pass its backward_cost."
        ),
    },
    hints=(
        (
            "Go through the operations one by one and keep a record of what is in memory. At each "
            "one, first add up what is there, then how far the operation rises."
        ),
        (
            "A value is the input of one stage and the output of the one before: give it the "
            "number of the stage it is the input of, and put the numbers into a set, so that none "
            "counts twice. Value 0, the batch, takes nothing."
        ),
        (
            "In memory are: the values in `kept`, the output and the saved_bytes of every stage in "
            "`saved`, the gradient of the output of stage `gradient` - 1, and during a forward "
            "pass its input. Afterwards look at the word: what is kept or saved now, and what did "
            "a backward pass let go of?"
        ),
    ),
    mistakes=(
        Mistake("forgets_the_gradient", "wrong-result", "no-gradient"),
        Mistake("looks_after_each_operation", "wrong-result", "afterwards"),
        Mistake("never_lets_go_of_an_input", "wrong-result", "let-go-too-late"),
        Mistake("counts_outputs_and_inputs", "wrong-result", "let-go-too-late"),
        Mistake("forgets_what_is_passed_on", "wrong-result", "too-low"),
        Mistake("counts_each_stage_once", "wrong-result", "each-stage-once"),
        Mistake("forgets_the_way_back", "wrong-result", "wrong-cost"),
    ),
    equivalent_mutants={
        "schedule_peak:guard-dropped:if word != 'backward':": (
            "A stage that goes back was saved, so its input is among the kept ones already."
        ),
    },
    source="Beaumont and others, arXiv 1911.13214, section 3",
)

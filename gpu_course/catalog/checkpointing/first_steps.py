"""Puzzles `schedule_peak` and `best_cost`: what a schedule takes, and the least it can cost."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from gpu_course.catalog.checkpointing import debriefs
from gpu_course.catalog.checkpointing import rotor_chains as chains
from gpu_course.catalog.specification import Case, Mistake, PythonPuzzle, Values

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
    from gpu_course.training.schedules import plans
    from gpu_course.training.schedules.rotor import solve
    from gpu_course.training.schedules.written import written

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
    from gpu_course.training.schedules.operations import account
    from gpu_course.training.schedules.written import read

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


SCHEDULE_PEAK = PythonPuzzle(
    name="18_optimal_checkpointing/schedule_peak",
    title="what a schedule takes",
    difficulty="medium",
    minutes=15,
    debrief=debriefs.SCHEDULE_PEAK,
    statement=(
        "Follow a schedule with nothing but counting: the most memory in use at one time, and the "
        "cost of all its operations."
    ),
    parameters={"schedule_peak": ("stages", "schedule")},
    harness="schedule_weighed",
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
    from gpu_course.training.schedules.rotor import solve

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
    from gpu_course.training.schedules.operations import account
    from gpu_course.training.schedules.plans import keep_everything
    from gpu_course.training.schedules.rotor import solve
    from gpu_course.training.schedules.written import written

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
    name="18_optimal_checkpointing/best_cost",
    title="the least cost in a memory",
    difficulty="hard",
    minutes=25,
    debrief=debriefs.BEST_COST,
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

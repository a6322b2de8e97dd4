"""Puzzle `rotor`: the best persistent schedule of a chain whose stages differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from gpu_course.lessons.checkpointing.planning import (
    PLAN_DIAGNOSES,
    TWICE_IN_A_ROW,
    followed,
    most_kept,
    plain_results,
    run_twice_in_a_row,
)
from gpu_course.lessons.optimal_checkpointing import rotor_chains as chains
from gpu_course.puzzle.specification import Case, Debrief, Finding, Mistake, PythonPuzzle, Values
from simt.text import count

REAL = {
    "a ResNet-like chain, a third of the way": "resnet",
    "a transformer chain, a tight memory": "transformer",
    "a transformer chain, the plain run fits": "transformer",
}
"""Cases whose schedule is followed on real modules, and which ones."""


def _case(name: str, stages: int, percent: int, visible: bool = False) -> Case:
    return Case(name, {"stages": stages, "percent": percent}, visible)


def _by_hand(name: str) -> Case:
    sizes = {"stages": len(chains.BY_HAND[name]), "memory": chains.MEMORY_BY_HAND[name]}
    return Case(name, sizes, False)


def _random_case(rng: np.random.Generator) -> Case:
    return _case("a chain drawn at random", int(rng.integers(5, 10)), int(rng.integers(5, 80)))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    kind, slot_bytes = REAL.get(case.name, ""), 1
    if case.name in chains.BY_HAND:
        stages = chains.by_hand(case.name)
    elif kind:
        stages, slot_bytes = chains.measured(kind)
    else:
        stages = chains.at_random(rng, case.sizes["stages"])
    if "memory" in case.sizes:
        memory = case.sizes["memory"]
    else:
        memory = chains.memory_between(stages, case.sizes["percent"])
    return {
        "function": "rotor",
        "arguments": [stages, memory],
        "chain": kind,
        "stages": stages,
        "seed": int(rng.integers(1 << 30)),
        "slot_bytes": slot_bytes,
    }


def _reference(inputs: Values, case: Case) -> Values:
    return plain_results(inputs, case)


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
    from gpu_course.measure.schedules.operations import account
    from gpu_course.measure.schedules.rotor import solve
    from gpu_course.measure.schedules.written import read

    stages, memory = inputs["arguments"]
    chain, schedule = chains.chain_of(stages), read(got["schedule"])
    found = account(chain, schedule)
    if found.peak > memory:
        number = next(n for n, rise in enumerate(found.rises) if rise > memory)
        fact = (
            f"operation {number} ({schedule[number]}) rises to {found.rises[number]:,}; "
            f"the memory is {memory:,}"
        )
        return Finding(_what_was_forgotten(chain, schedule, memory), fact, "over-budget")
    if inputs["chain"]:
        budget = memory * inputs["slot_bytes"]
        if got["peak_bytes"] > budget:
            fact = f"{count(got['peak_bytes'], 'byte')} alive at one time; {budget:,} are allowed"
            return Finding("too-much-memory", fact, "over-budget")
        assert got["forward_passes"] == list(found.forward_passes), "the run left the schedule"
    best = account(chain, solve(chain, memory).schedule())
    if found.cost > best.cost:
        _, saved = most_kept(got["schedule"])
        key = "never-saves-ahead" if saved <= 1 else "too-expensive"
        if run_twice_in_a_row(got["schedule"]) is not None:
            key = "twice-in-a-row"
        fact = (
            f"the schedule costs {found.cost:,}, running its stages "
            f"{_list(found.forward_passes)} times; the best one costs {best.cost:,}, running them "
            f"{_list(best.forward_passes)} times"
        )
        return Finding(key, fact, "over-budget")
    return None


def _over(inputs: Values, case: Case, expected: Values, got: Values) -> Values:
    """The schedule in its memory, and the first operation that rises above it."""
    _, memory = inputs["arguments"]
    shown = {
        "schedule": got["schedule"],
        "rises": got["rises"],
        "budget": memory,
        "unit": "slots" if inputs["chain"] else "units",
    }
    over = [number for number, rise in enumerate(got["rises"]) if rise > memory]
    if over:
        word, stage = got["schedule"][over[0]]
        shown["at"] = over[0]
        shown["broken"] = (
            f"operation {over[0]} ({word} {stage}) rises to {got['rises'][over[0]]}; "
            f"the memory is {memory}"
        )
    return shown


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _what_was_forgotten(chain: Any, schedule: Any, memory: int) -> str:
    """Returns the key of what a schedule leaves out: without that it is the best one, and fits."""
    from gpu_course.measure.schedules.operations import account
    from gpu_course.measure.schedules.rotor import solve

    for key, stages in chains.forgetful([asdict(stage) for stage in chain.stages]).items():
        other = chains.chain_of(stages)
        found = account(other, schedule)
        if found.peak <= memory and found.cost == solve(other, memory).best_cost():
            return key
    return "too-much-memory"


DEBRIEF = Debrief(
    shows=("schedule",),
    why=(
        "For each part of the chain and each amount of memory there are two moves: save the first "
        "stage whole, or keep its input and come back. The best of both, from small parts to large "
        "ones, is the best of all schedules of this kind."
    ),
    alternative=(
        "A recursion that remembers fills only the states it needs; a table filled from short "
        "parts to long ones needs no recursion and is what rotor does in C."
    ),
)

ROTOR = PythonPuzzle(
    name="18_optimal_checkpointing/rotor",
    title="the best schedule for a memory",
    difficulty="hard",
    minutes=40,
    debrief=DEBRIEF,
    statement=(
        "Stages that differ in size and cost, and a memory: find the cheapest schedule that fits. "
        "It is followed on a real network, and its peak is measured."
    ),
    parameters={"rotor": ("stages", "memory")},
    harness="gpu_course.puzzle.harness.schedules",
    torch=True,
    call=chains.as_called,
    seconds=40.0,
    cases=(
        _case("visible example: five stages", 5, 30, visible=True),
        _case("one stage", 1, 50),
        _case("eight stages, the least memory", 8, 0),
        _case("eight stages, room for nearly all", 8, 85),
        _by_hand("room to run forward"),
        _by_hand("the batch takes nothing"),
        _case("a ResNet-like chain, a third of the way", 10, 35),
        _case("a transformer chain, a tight memory", 10, 10),
        _case("a transformer chain, the plain run fits", 10, 100),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    follow=followed,
    judge=_judge,
    shown=_over,
    diagnoses={
        **PLAN_DIAGNOSES,
        "too-much-memory": (
            "The schedule does not fit. Whatever is kept while a part is solved has to be taken "
            "out of that part's memory: the checkpoint it begins with, or all that was saved."
        ),
        "no-gradients": (
            "It would fit if gradients took no memory. While stages s to t - 1 are worked on, the "
            "gradient of the output of t - 1 is there; in a backward pass that of the stage's own "
            "output is."
        ),
        "no-temporaries": (
            "It would fit if operators needed no room to work in. The rises of a forward pass, of "
            "one that saves, and of a backward pass stand in the table: forward_bytes, "
            "forward_saving_bytes, backward_bytes."
        ),
        "twice-in-a-row": TWICE_IN_A_ROW,
        "never-saves-ahead": (
            "It fits, and it never saves a stage before it has to. Where there is room, a stage "
            'that is run with "save all" on the way forward is not run again: try that beginning '
            "as well, and take the better one."
        ),
        "too-expensive": (
            "It fits, and there is a cheaper one. Every part has two kinds of beginnings, and the "
            "first kind one for each place of the next checkpoint; costs are those of the table."
        ),
    },
    hints=(
        (
            "Solve parts of the chain: C(s, t, m) for stages s to t - 1 with a memory of m, while "
            "the input of s is there already and not counted in m. A part begins in one of two "
            "ways. Which?"
        ),
        (
            "Either keep the input of s, run forward to some stage c, solve c .. t-1 with the "
            "input of c taken out of m, then s .. c-1 with all of m. Or save all of s, solve "
            "s+1 .. t-1 with what was saved taken out of m, then go back through s. Neither is "
            "allowed where an operation would rise above m."
        ),
        (
            "Saving s rises to forward_saving_bytes above the gradient of t - 1's output; going "
            "back through it to backward_bytes above its own gradient, saved and output. Running "
            "on rises at each stage by its forward_bytes above that gradient and its input (the "
            "input of s itself is not counted)."
        ),
    ),
    mistakes=(
        Mistake("keeps_everything", "over-budget", "too-much-memory"),
        Mistake("keeps_checkpoints_for_free", "over-budget", "too-much-memory"),
        Mistake("forgets_the_gradients", "over-budget", "no-gradients"),
        Mistake("forgets_what_operators_need", "over-budget", "no-temporaries"),
        Mistake("never_saves_ahead", "over-budget", "never-saves-ahead"),
        Mistake("keeps_an_input_and_then_runs", "over-budget", "twice-in-a-row"),
        Mistake("all_stages_cost_the_same", "over-budget", "too-expensive"),
        Mistake("the_best_equal_segments", "over-budget", "too-expensive"),
        Mistake("off_by_one_segment", "wrong-result", "input-missing"),
        Mistake("goes_back_too_early", "wrong-result", "backward-order"),
    ),
    equivalent_mutants={
        **{
            f"rotor:{mutant}": (
                "Every schedule saves each stage once and goes back through it once, so what that "
                "costs is the same for all of them."
            )
            for mutant in (
                "operand-dropped:found = (rest, start)",
                "operator:found = (here['forward_cost'] - here['backward_cost'] + rest, start)",
                "operand-dropped:found = (here['forward_cost'] + rest, start)",
                "operand-dropped:found = (here['backward_cost'] + rest, start)",
            )
        },
        **{
            f"rotor:{mutant}": "A part with no room, or less than none, has no schedule anyway."
            for mutant in ("guard-dropped:if given <= room:", "comparison:if given < room:")
        },
        "rotor:targets-swapped:given, cost = (0, 0)": "Both begin at 0, whichever comes first.",
        (
            "rotor:targets-swapped:left, right = (best(middle, stop, room - given), "
            "best(start, middle, room))"
        ): "The costs of both parts are whole numbers, and only their sum is used.",
    },
    source="Beaumont and others, arXiv 1911.13214, section 4",
)

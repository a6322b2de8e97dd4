"""Puzzle `rotor`: the best persistent schedule of a chain whose stages differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from gpu_course.lessons.optimal_checkpointing import rotor_chains as chains
from gpu_course.puzzle.planning import followed, most_kept, plain_results, run_twice_in_a_row
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values
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


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    from gpu_course.lessons.optimal_checkpointing.dynamic_program import solve
    from gpu_course.measure.schedules.operations import account
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
        return Judgement(_what_was_forgotten(chain, schedule, memory), fact, "over-budget")
    if inputs["chain"]:
        budget = memory * inputs["slot_bytes"]
        if got["peak_bytes"] > budget:
            fact = f"{count(got['peak_bytes'], 'byte')} alive at one time; {budget:,} are allowed"
            return Judgement("too-much-memory", fact, "over-budget")
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
        return Judgement(key, fact, "over-budget")
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
    from gpu_course.lessons.optimal_checkpointing.dynamic_program import solve
    from gpu_course.measure.schedules.operations import account

    for key, stages in chains.forgetful([asdict(stage) for stage in chain.stages]).items():
        other = chains.chain_of(stages)
        found = account(other, schedule)
        if found.peak <= memory and found.cost == solve(other, memory).best_cost():
            return key
    return "too-much-memory"


ROTOR = PythonPuzzle(
    **puzzle_fields(__file__),
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
)

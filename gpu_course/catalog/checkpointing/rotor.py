"""Puzzle `rotor`: the best persistent schedule of a chain whose stages differ."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any

import numpy as np

from gpu_course.catalog.checkpointing.planning import PLAN_DIAGNOSES, most_kept, plain_results
from gpu_course.catalog.specification import Case, Finding, Mistake, PythonPuzzle, Values

SLOTS = 60
"""How many slots the plain run of a real chain takes."""
KINDS = ("", "resnet", "transformer")


def _case(name: str, kind: str, percent: int, length: int = 0, visible: bool = False) -> Case:
    sizes = {"chain": KINDS.index(kind), "percent": percent, "length": length}
    return Case(name, sizes, visible)


def _random_case(rng: np.random.Generator) -> Case:
    percent, length = int(rng.integers(5, 80)), int(rng.integers(5, 10))
    return _case("a chain drawn at random", "", percent, length)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    kind = KINDS[case.sizes["chain"]]
    if kind:
        stages, slot_bytes = _measured(kind)
    else:
        stages, slot_bytes = [_random_stage(rng) for _ in range(case.sizes["length"])], 1
    return {
        "function": "rotor",
        "arguments": [stages, _memory(stages, case.sizes["percent"])],
        "chain": kind,
        "stages": stages,
        "seed": int(rng.integers(1 << 30)),
        "slot_bytes": slot_bytes,
    }


def _random_stage(rng: np.random.Generator) -> dict[str, int]:
    output, saved = int(rng.integers(1, 6)), int(rng.integers(0, 12))
    return {
        "output_bytes": output,
        "saved_bytes": saved,
        "forward_bytes": output + int(rng.integers(0, 4)),
        "forward_saving_bytes": output + saved + int(rng.integers(0, 4)),
        "backward_bytes": int(rng.integers(1, 10)),
        "output_gradient_bytes": output,
        "forward_cost": int(rng.integers(1, 30)),
        "backward_cost": int(rng.integers(1, 60)),
    }


@lru_cache(maxsize=4)
def _measured(kind: str) -> tuple[list[dict[str, int]], int]:
    """Returns (stages in slots, bytes of a slot) of a real chain."""
    from gpu_course.training.chains import CHAINS
    from gpu_course.training.schedules.measured import measure_chain
    from gpu_course.training.schedules.operations import account
    from gpu_course.training.schedules.plans import keep_everything

    chain = measure_chain(*CHAINS[kind](0))
    full = account(chain, keep_everything(len(chain))).peak
    slot_bytes = -(-full // SLOTS)
    return [asdict(stage) for stage in chain.in_slots(slot_bytes).stages], slot_bytes


def _chain(stages: list[dict[str, int]]) -> Any:
    from gpu_course.training.schedules.chain import Chain, Stage

    return Chain(tuple(Stage(**stage) for stage in stages))


def _memory(stages: list[dict[str, int]], percent: int) -> int:
    """A memory so far on the way from the least that does to that of the plain run."""
    from gpu_course.training.schedules.operations import account
    from gpu_course.training.schedules.plans import keep_everything
    from gpu_course.training.schedules.rotor import solve

    chain = _chain(stages)
    full = account(chain, keep_everything(len(chain))).peak
    least = solve(chain, full).least_memory()
    assert least is not None
    return least + (full - least) * percent // 100


def _reference(inputs: Values, case: Case) -> Values:
    return plain_results(inputs, case)


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
    from gpu_course.training.schedules.operations import account
    from gpu_course.training.schedules.rotor import solve
    from gpu_course.training.schedules.written import read

    stages, memory = inputs["arguments"]
    chain, schedule = _chain(stages), read(got["schedule"])
    found = account(chain, schedule)
    if found.peak > memory:
        fact = f"the schedule takes {found.peak:,} of a memory of {memory:,}"
        return Finding(_what_was_forgotten(chain, schedule, memory), fact, "over-budget")
    if inputs["chain"]:
        budget = memory * inputs["slot_bytes"]
        if got["peak_bytes"] > budget:
            fact = f"{got['peak_bytes']:,} bytes alive at one time, measured; {budget:,} are there"
            return Finding("too-much-memory", fact, "over-budget")
        assert got["forward_passes"] == list(found.forward_passes), "the run left the schedule"
    best = int(solve(chain, memory).best_cost())
    if found.cost > best:
        _, saved = most_kept(got["schedule"])
        key = "never-saves-ahead" if saved <= 1 else "too-dear"
        fact = f"the schedule costs {found.cost:,}; the best one in this memory costs {best:,}"
        return Finding(key, fact, "over-budget")
    return None


def _what_was_forgotten(chain: Any, schedule: Any, memory: int) -> str:
    """Returns the key of what a schedule leaves out: without that it is the best one, and fits."""
    from gpu_course.training.schedules.operations import account
    from gpu_course.training.schedules.rotor import solve

    no_gradients = [replace(stage, output_gradient_bytes=0) for stage in chain.stages]
    no_temporaries = [
        replace(
            stage,
            forward_bytes=stage.output_bytes,
            forward_saving_bytes=stage.output_bytes + stage.saved_bytes,
            backward_bytes=0,
        )
        for stage in chain.stages
    ]
    for key, stages in (("no-gradients", no_gradients), ("no-temporaries", no_temporaries)):
        other = replace(chain, stages=tuple(stages))
        found = account(other, schedule)
        if found.peak <= memory and found.cost == solve(other, memory).best_cost():
            return key
    return "too-much-memory"


ROTOR = PythonPuzzle(
    name="18_optimal_checkpointing/rotor",
    title="the best schedule for a memory",
    statement=(
        "Stages that differ in size and cost, and a memory: find the cheapest schedule that fits. "
        "It is followed on a real network, and its peak is measured."
    ),
    functions=("rotor",),
    parameters={"rotor": ("stages", "memory")},
    harness="schedule_followed",
    torch=True,
    seconds=20.0,
    cases=(
        _case("visible example: five stages", "", 30, 5, visible=True),
        _case("one stage", "", 50, 1),
        _case("eight stages, the least memory", "", 0, 8),
        _case("eight stages, room for nearly all", "", 85, 8),
        _case("a ResNet-like chain, a third of the way", "resnet", 35),
        _case("a transformer chain, a tight memory", "transformer", 10),
        _case("a transformer chain, the plain run fits", "transformer", 100),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
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
        "never-saves-ahead": (
            "It fits, and it never saves a stage before it has to. Where there is room, a stage "
            'that is run with "save all" on the way forward is not run again: try that beginning '
            "as well, and take the better one."
        ),
        "too-dear": (
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
        Mistake("all_stages_cost_the_same", "over-budget", "too-dear"),
        Mistake("the_best_equal_segments", "over-budget", "too-dear"),
        Mistake("off_by_one_segment", "wrong-result", "input-missing"),
        Mistake("goes_back_too_early", "wrong-result", "backward-order"),
    ),
    source="Beaumont and others, arXiv 1911.13214, section 4",
)

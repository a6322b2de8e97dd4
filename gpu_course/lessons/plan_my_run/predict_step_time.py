"""Puzzle `predict_step_time`: the seconds of a step, and where they go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_course.grading.diagnoses.compare import first_difference
from gpu_course.lessons.plan_my_run import step_parts as right
from gpu_course.lessons.plan_my_run.trainings import (
    A100,
    H100,
    KORTHIKANTI,
    LLAMA_3_70B,
    SMALL,
    Plain,
    Training,
    batch_of,
    drawn,
    layout_of,
    machine_of,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values


@dataclass(frozen=True)
class Timed:
    """A training on a machine."""

    training: Training
    machine: Plain


_SLOW = machine_of(1e12, 40e9, 5e9, node=4)
_NARROW = machine_of(1e12, 12e9, 5e9, node=8)


def _of(machine: Plain, stages: list[int], sequences: int, **layout: Any) -> Timed:
    """The small model; microbatches of two sequences of 32 tokens."""
    training = Training(SMALL, layout_of(stages, **layout), batch_of(sequences, 2, 32))
    return Timed(training, machine)


KNOWN: dict[str, Timed] = {
    "visible example": _of(_SLOW, [2, 2, 2], 24, dp=3, tp=2),
    "one GPU": _of(_SLOW, [6], 6),
    "tensor parallelism over nodes": _of(_SLOW, [6], 8, tp=8, dp=2),
    "links that are no faster than cards": _of(_NARROW, [6], 16, tp=2, dp=8),
    "everything in one node": _of(_NARROW, [3, 3], 8, tp=2, dp=2),
    "a replica in each node": _of(_SLOW, [6], 12, tp=4, dp=3),
    "uneven stages": _of(_SLOW, [1, 4, 1], 16, dp=2),
    "a head as large as layers": _of(_SLOW, [3, 3], 16, dp=2),
    "selective recomputation": _of(_SLOW, [3, 3], 16, tp=2, recompute="selective"),
    "full recomputation": _of(_SLOW, [3, 3], 16, tp=2, recompute="full"),
    "ZeRO 1": _of(_SLOW, [6], 16, dp=4, tp=2, zero=1),
    "ZeRO 2": _of(_SLOW, [4, 2], 16, dp=4, zero=2),
    "ZeRO 3": _of(_SLOW, [6], 48, dp=4, zero=3),
    "a host that is slow": _of(machine_of(1e12, 40e9, 5e9, 1e-3, 4), [2, 3, 1], 24, tp=2, dp=2),
    "Korthikanti's 22B": Timed(KORTHIKANTI["22B"], A100),
    "Korthikanti's 530B": Timed(KORTHIKANTI["530B"], A100),
    "Llama 3 70B on 1,024 GPUs": Timed(
        Training(
            LLAMA_3_70B,
            layout_of([19, 21, 21, 19], dp=32, tp=8, zero=1, recompute="selective"),
            batch_of(512, 1, 8_192),
        ),
        H100,
    ),
}
NAMES = tuple(KNOWN)


def _drawn(rng: np.random.Generator) -> Timed:
    training = drawn(rng)
    rates = [float(each) * 1e9 for each in rng.integers(1, 60, 2)]
    machine = machine_of(1e12, max(rates), min(rates), float(rng.choice([0.0, 1e-4])), 8)
    model = {**training.model, "experts": 0, "top_k": 0}
    return Timed(
        Training(model, {**training.layout, "ep": 1, "sp": False}, training.batch), machine
    )


TOLERANCE = (1e-9, 1e-13)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    number = case.sizes["number"]
    timed = KNOWN[NAMES[number]] if number >= 0 else _drawn(rng)
    training = timed.training
    model, layout, batch = training.model, training.layout, training.batch
    dp, tp, last = layout["dp"], layout["tp"], len(layout["stages"]) - 1
    calls: dict[str, Any] = {
        "first_stage_flop": ("stage_flop", model, layout, batch, 0),
        "last_stage_flop": ("stage_flop", model, layout, batch, last),
        "tp_seconds": ("all_reduce_seconds", 1e9, tp, 1, timed.machine),
        "dp_seconds": ("all_reduce_seconds", 1e9, dp, tp, timed.machine),
        "seconds": ("predict_step_time", model, layout, batch, timed.machine),
    }
    return {"calls": calls}


_RIGHT = {
    "stage_flop": right.stage_flop,
    "all_reduce_seconds": right.all_reduce_seconds,
    "predict_step_time": right.step_seconds,
}


def _reference(inputs: Values, case: Case) -> Values:
    return {
        name: _RIGHT[function](*arguments)  # type: ignore[operator]  # of unlike functions
        for name, (function, *arguments) in inputs["calls"].items()
    }


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    seconds = got["seconds"]
    before = [name for name in expected if name != "seconds"]
    if any(first_difference(got[n], expected[n], TOLERANCE, n) for n in before):
        return None  # What is said is of a function that comes before.
    if not isinstance(seconds, dict) or set(seconds) != set(expected["seconds"]):
        return "not-the-names"
    return None


def _call(inputs: Values) -> str:
    _, model, layout, batch, machine = inputs["calls"]["seconds"]
    return f"predict_step_time({model}, {layout}, {batch}, {machine})"


PREDICT_STEP_TIME = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.puzzle.harness.calls",
    cases=tuple(Case(name, {"number": number}, number == 0) for number, name in enumerate(NAMES)),
    random_case=lambda rng: Case("a training drawn at random", {"number": -1}),
    inputs=_inputs,
    reference=_reference,
    tolerance=TOLERANCE,
    diagnose=_diagnose,
    call=_call,
)

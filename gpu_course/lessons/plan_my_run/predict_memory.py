"""Puzzle `predict_memory`: what a GPU of each stage holds, and which layouts cannot be."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.grading.diagnoses.compare import first_difference
from gpu_course.lessons.plan_my_run import stage_bytes as right
from gpu_course.lessons.plan_my_run.trainings import (
    KORTHIKANTI,
    LLAMA_3_70B,
    MIXTRAL,
    SMALL,
    SMALL_MOE,
    SMALL_TIED,
    Training,
    batch_of,
    drawn,
    layout_of,
)
from gpu_course.puzzle.harness.refusing import REFUSED
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

_22B, _175B = KORTHIKANTI["22B"], KORTHIKANTI["175B"]


def _layout(training: Training, **others: Any) -> Training:
    return Training(training.model, {**training.layout, **others}, training.batch)


KNOWN: dict[str, Training] = {
    "visible example": Training(SMALL, layout_of([2, 2, 2], dp=3, zero=1), batch_of(24, 2, 32)),
    "one GPU": Training(SMALL, layout_of([6]), batch_of(3, 1, 32)),
    "tensor parallelism": Training(SMALL, layout_of([3, 3], tp=2), batch_of(8, 1, 33)),
    "sequence parallelism": Training(SMALL, layout_of([3, 3], tp=2, sp=True), batch_of(8, 1, 32)),
    "fewer microbatches than stages": Training(
        SMALL, layout_of([1, 2, 1, 1, 1], dp=2), batch_of(8, 2, 32)
    ),
    "uneven stages": Training(
        SMALL, layout_of([1, 3, 2], tp=2, recompute="selective"), batch_of(12, 2, 32)
    ),
    "ZeRO 2": Training(SMALL, layout_of([4, 2], dp=3, zero=2), batch_of(12, 1, 32)),
    "ZeRO 3": Training(SMALL, layout_of([6], dp=3, zero=3), batch_of(12, 1, 32)),
    "full recomputation": Training(
        SMALL, layout_of([3, 3], tp=2, sp=True, recompute="full"), batch_of(12, 1, 32)
    ),
    "a tied table": Training(SMALL_TIED, layout_of([6]), batch_of(4, 1, 32)),
    "a tied table, two stages": Training(SMALL_TIED, layout_of([3, 3]), batch_of(4, 1, 32)),
    "experts": Training(SMALL_MOE, layout_of([2, 2], dp=4, ep=2, zero=1), batch_of(16, 1, 32)),
    "experts, ZeRO 3": Training(
        SMALL_MOE, layout_of([4], dp=4, tp=2, ep=4, zero=3), batch_of(16, 2, 32)
    ),
    "Korthikanti's 22B": _22B,
    "Korthikanti's 175B, selective": _layout(_175B, sp=True, recompute="selective"),
    "Korthikanti's 530B": _layout(KORTHIKANTI["530B"], sp=True),
    "Korthikanti's 1T, recomputed": _layout(KORTHIKANTI["1T"], recompute="full"),
    "Llama 3 70B on 1,024 GPUs": Training(
        LLAMA_3_70B,
        layout_of([19, 21, 21, 19], dp=32, tp=8, sp=True, zero=1, recompute="selective"),
        batch_of(512, 1, 8_192),
    ),
    "Mixtral 8x7B on 64 GPUs": Training(
        MIXTRAL,
        layout_of([16, 16], dp=16, tp=2, ep=8, sp=True, zero=2, recompute="selective"),
        batch_of(128, 1, 4_096),
    ),
}
NAMES = tuple(KNOWN)
_PLAIN = Training(SMALL, layout_of([3, 3], dp=2, tp=2), batch_of(8, 2, 32))
_EXPERTS = Training(SMALL_MOE, layout_of([2, 2], dp=4, ep=2), batch_of(16, 1, 32))


def _model(training: Training, **others: Any) -> Training:
    return Training({**training.model, **others}, training.layout, training.batch)


def _batch(training: Training, **others: Any) -> Training:
    return Training(training.model, training.layout, {**training.batch, **others})


ODD: dict[str, list[Training]] = {
    "stages that are not the layers": [
        _layout(_PLAIN, stages=stages) for stages in ([3, 2], [6, 0], [7, -1], [3, 4], [])
    ],
    "tp that does not divide": [
        _layout(_PLAIN, tp=3),
        _layout(_PLAIN, tp=4),
        _model(_PLAIN, heads=3, kv_heads=3),
        _model(_PLAIN, kv_heads=1),
        _model(_PLAIN, mlp=191),
        _model(_PLAIN, vocabulary=641),
        _batch(_layout(_PLAIN, sp=True), sequence=33),
    ],
    "ep that does not divide": [
        _layout(_PLAIN, ep=2),
        _batch(_layout(_EXPERTS, ep=3, dp=3), sequences=12),
        _layout(_EXPERTS, ep=8),
    ],
    "a batch that is not divided": [
        _batch(_PLAIN, sequences=6),
        _batch(_PLAIN, microbatch=3),
        _layout(_PLAIN, dp=3),
    ],
    "nothing, and unknown words": [
        _layout(_PLAIN, dp=0),
        _layout(_PLAIN, tp=0),
        _layout(_EXPERTS, ep=0),
        _layout(_PLAIN, tp=-2),
        _batch(_PLAIN, microbatch=0),
        _batch(_PLAIN, sequences=0),
        _batch(_PLAIN, sequence=0),
        _layout(_PLAIN, zero=4),
        _layout(_PLAIN, zero=-1),
        _layout(_PLAIN, recompute="some"),
    ],
}
"""Trainings that cannot be, each for one reason."""
ODD_NAMES = tuple(ODD)


TOLERANCE = (1e-9, 0.5)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    if "odd" in case.sizes:
        listed = ODD[ODD_NAMES[case.sizes["odd"]]]
        calls = [("predict_memory", each.model, each.layout, each.batch) for each in listed]
        return {"calls": {"refused": calls}}
    number = case.sizes["number"]
    training = KNOWN[NAMES[number]] if number >= 0 else drawn(rng)
    model, layout, batch = training.model, training.layout, training.batch
    stages = range(len(layout["stages"]))
    # Of a long pipeline some stages say all there is to say one by one.
    few = stages if len(stages) <= 4 else [0, 1, len(stages) - 2, len(stages) - 1]
    return {
        "calls": {
            "states": [("state_bytes", model, layout, stage) for stage in few],
            "activations": [("activation_bytes", model, layout, batch, stage) for stage in few],
            "memory": [("predict_memory", model, layout, batch)],
        }
    }


def _reference(inputs: Values, case: Case) -> Values:
    calls = inputs["calls"]
    if "odd" in case.sizes:
        return {"refused": [REFUSED] * len(calls["refused"])}
    model, layout, batch = calls["memory"][0][1:]
    stages = range(len(layout["stages"]))
    return {
        "states": [right.state_bytes(*call[1:]) for call in calls["states"]],
        "activations": [right.activation_bytes(*call[1:]) for call in calls["activations"]],
        "memory": [
            [
                right.state_bytes(model, layout, stage)
                + right.activation_bytes(model, layout, batch, stage)
                for stage in stages
            ]
        ],
    }


def _follow(inputs: Values, case: Case, got: Values) -> Values:
    """Takes an array or a tuple for the list that it stands for."""
    if "memory" not in got:
        return got
    (memory,) = got["memory"]
    listed = list(memory) if isinstance(memory, tuple | np.ndarray) else memory
    return {**got, "memory": [listed]}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if "odd" in case.sizes:
        return "not-refused"
    (memory,) = got["memory"]
    if memory == REFUSED:
        return "refused"
    if _right_but(expected, got) and not isinstance(memory, list | tuple | np.ndarray):
        return "not-a-list"
    return None


def _right_but(expected: Values, got: Values) -> bool:
    """Whether all is right that comes before the last function; else that is spoken of."""
    before = [name for name in expected if name != "memory"]
    return not any(first_difference(got[n], expected[n], TOLERANCE, n) for n in before)


def _call(inputs: Values) -> str:
    """All calls in one line: a message names the place of the wrong one in the list."""
    calls = next(iter(inputs["calls"].values()))
    model, layout = calls[0][1], calls[0][2]
    *_, batch = next(reversed(inputs["calls"].values()))[0]
    others = f", and {len(calls) - 1} more" if "refused" in inputs["calls"] else ""
    return f"predict_memory({model}, {layout}, {batch}){others}"


PREDICT_MEMORY = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.puzzle.harness.refusing",
    cases=(
        *(Case(name, {"number": number}, number == 0) for number, name in enumerate(NAMES)),
        *(Case(name, {"number": 0, "odd": number}) for number, name in enumerate(ODD_NAMES)),
    ),
    random_case=lambda rng: Case("a training drawn at random", {"number": -1}),
    inputs=_inputs,
    reference=_reference,
    follow=_follow,
    tolerance=TOLERANCE,
    diagnose=_diagnose,
    call=_call,
)

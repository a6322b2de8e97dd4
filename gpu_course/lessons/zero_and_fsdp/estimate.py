"""Puzzle `estimate`: what DeepSpeed says that ZeRO 2 and 3 need, with and without offload."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.specification import Case, Debrief, Mistake, PythonPuzzle, Values

NOTHING, OPTIMIZER, ALL = "nothing", "optimizer", "all"
_OFFLOAD = (NOTHING, OPTIMIZER, ALL)


def bytes_needed(
    stage: int,
    parameters: int,
    largest: int,
    gpus: int,
    nodes: int,
    offload: str,
    *,
    buffer: Fraction = Fraction(3, 2),
    made: int = 4,
    states: int = 16,
    gradient: int = 2,
    over: str = "all",
    layer: int = 4,
    at_once: bool = True,
) -> tuple[int, int]:
    """Returns bytes of a node's CPU memory and of one GPU's memory.

    Args:
        stage: 2 or 3.
        parameters: of the model.
        largest: of its largest layer.
        gpus: of a node.
        nodes: how many.
        offload: NOTHING, OPTIMIZER, or ALL, which stage 3 alone has.
        buffer, made, states, gradient, over, layer, at_once: as DeepSpeed has them; other values
            are wrong thoughts.

    Source: DeepSpeed, estimate_zero2_model_states_mem_needs and estimate_zero3_... at edaa722.

    >>> [round(size / 2**30, 2) for size in bytes_needed(3, 2851 * 10**6, 32 * 10**6, 8, 1, "all")]
    [71.69, 0.12]
    """
    ranks = gpus * nodes if over == "all" else gpus
    on_cpu: Fraction | int
    if stage == 2:
        on_gpu = 2 * parameters
        if offload == NOTHING:
            on_gpu += (gradient + states) * parameters // ranks
            on_cpu = made * gpus * parameters
        else:
            on_cpu = max(made * gpus * nodes * at_once, states) * parameters
        return int(buffer * on_cpu), on_gpu
    on_gpu = layer * largest
    if offload == NOTHING:
        on_gpu += (2 + states) * parameters // ranks
        on_cpu = made * gpus * largest
    else:
        kept = states if offload == OPTIMIZER else states + 2
        on_cpu = Fraction(kept * parameters, nodes if over == "all" else 1)
        on_gpu += 2 * parameters // ranks if offload == OPTIMIZER else 0
    return int(buffer * on_cpu), on_gpu


MOST_PARTS = 6
"""Weights and gradients in two widths each, and two moments: so many numbers may be rounded."""


def _case(
    name: str, stage: int, offload: str, gpus: int, nodes: int, visible: bool = False
) -> Case:
    places = {"stage": stage, "offload": _OFFLOAD.index(offload), "gpus": gpus, "nodes": nodes}
    return sized(name, visible=visible, **places)


CASES = (
    _case("visible example", 3, OPTIMIZER, 8, 2, visible=True),
    _case("stage 2", 2, NOTHING, 4, 3),
    _case("stage 2 with offload", 2, OPTIMIZER, 2, 1),
    _case("stage 2 with offload, many GPUs", 2, OPTIMIZER, 8, 4),
    _case("stage 3", 3, NOTHING, 8, 4),
    _case("stage 3, weights offloaded too", 3, ALL, 8, 4),
    _case("stage 3 on one GPU", 3, NOTHING, 1, 1),
)


def _random_case(rng: np.random.Generator) -> Case:
    stage = int(rng.integers(2, 4))
    offload = _OFFLOAD[int(rng.integers(0, stage))]
    return _case("a model drawn at random", stage, offload, int(rng.choice([2, 4, 8])), 3)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    # 3 hosts share this evenly, and float64 is exact with 2 and 4. 32 GPUs leave 15/16 of a byte,
    # and the nearest is not below; 4 hosts leave 1/4, which rounding early makes less than 0.
    parameters = 48 * int(rng.integers(500_000, 200_000_000)) + 39
    if case.visible:
        parameters = 2851 * 10**6
    return {
        "stage": case.sizes["stage"],
        "parameters": parameters,
        "largest": 32 * 10**6 if case.visible else parameters // 40,
        "gpus": case.sizes["gpus"],
        "nodes": case.sizes["nodes"],
        "offload": _OFFLOAD[case.sizes["offload"]],
    }


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": bytes_needed(**inputs)}


_THOUGHTS: tuple[tuple[str, Callable[[Values], tuple[int, int]]], ...] = (
    ("no-buffer", lambda v: bytes_needed(**v, buffer=Fraction(1))),
    ("no-gradient-32", lambda v: bytes_needed(**v, states=12)),
    ("gradient-16-whole", lambda v: _whole_gradients(v)),
    ("per-node", lambda v: bytes_needed(**v, over="node")),
    ("no-layer", lambda v: bytes_needed(**v, layer=0)),
    ("layer-once", lambda v: bytes_needed(**v, layer=2)),
    ("swapped", lambda v: (bytes_needed(**v)[1], bytes_needed(**v)[0])),
    ("made-in-16-bits", lambda v: bytes_needed(**v, made=2)),
    ("made-forgotten", lambda v: bytes_needed(**v, at_once=False)),
)


def _whole_gradients(inputs: Values) -> tuple[int, int]:
    on_cpu, on_gpu = bytes_needed(**inputs, gradient=0)
    plain = inputs["stage"] == 2 and inputs["offload"] == NOTHING
    return on_cpu, on_gpu + (2 * inputs["parameters"] if plain else 0)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    result, right = tuple(got["result"]), expected["result"]
    for key, thought in _THOUGHTS:
        if result == thought(inputs) != right:
            return key
    near = all(abs(one - other) <= MOST_PARTS for one, other in zip(result, right, strict=True))
    return "rounded-otherwise" if near else None


DEBRIEF = Debrief(
    shows=("result",),
    why=(
        "It is ZeRO's formula once more with what a library adds to it: gradients widened to "
        "float32, a whole layer, the moment when each process makes the model. A formula of a "
        "library is a claim about its code, and changes with it."
    ),
    alternative=(
        "Measure: run one step of the model on the meta device or on few GPUs, and read the "
        "allocator. An estimate says whether that is worth the time."
    ),
)

ESTIMATE = PythonPuzzle(
    name="23_zero_and_fsdp/estimate",
    title="what DeepSpeed says it needs",
    difficulty="easy",
    minutes=12,
    debrief=DEBRIEF,
    statement=(
        "DeepSpeed tells in advance what memory ZeRO 2 and 3 need for weights, gradients and "
        "states, on the GPU and on the host. Write that estimate from its rules."
    ),
    parameters={"estimate": ("stage", "parameters", "largest", "gpus", "nodes", "offload")},
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    diagnoses={
        "no-buffer": "The host's bytes are right but for the factor of 1.5 that is put on top.",
        "no-gradient-32": (
            "The states have 12 bytes here. In float32 there are four things: weights, two moments "
            "and what else?"
        ),
        "gradient-16-whole": (
            "The 16-bit gradients are counted whole on each GPU. In stage 2 they are cut as well."
        ),
        "per-node": (
            "What is cut is cut over the GPUs of one node here. Slices go to the GPUs of all nodes."
        ),
        "no-layer": (
            "The GPU's bytes leave out the largest layer, which is whole for a moment, weights and "
            "gradient."
        ),
        "layer-once": "Of the largest layer both are whole: its weights and its gradient.",
        "swapped": "The order is: the host's bytes first, then those of a GPU.",
        "made-in-16-bits": "A process makes the model in float32 before anything is narrowed.",
        "made-forgotten": (
            "With offload in stage 2 the host needs whichever is more: the states that lie there, "
            "or all the copies of the model while they are made."
        ),
        "rounded-otherwise": (
            "Both numbers are right but for a few bytes. Round each down, and once: when all "
            "that belongs to it has been added up."
        ),
    },
    hints=(
        "Two sums, one for each stage. What is left on the GPU with each kind of offload?",
        "Whatever is cut is divided by gpus * nodes; what lies on the hosts in stage 3, by nodes.",
        (
            "Stage 2 on a GPU: 2 bytes whole, and 18 cut unless offloaded. Stage 3: 4 for each "
            "number of the largest layer, and 18, 2 or 0 cut."
        ),
    ),
    mistakes=(
        Mistake("without_the_factor", "wrong-result", "no-buffer"),
        Mistake("as_the_paper_counts", "wrong-result", "no-gradient-32"),
        Mistake("whole_gradients", "wrong-result", "gradient-16-whole"),
        Mistake("over_one_node", "wrong-result", "per-node"),
        Mistake("forgets_the_layer", "wrong-result", "no-layer"),
        Mistake("layer_without_gradient", "wrong-result", "layer-once"),
        Mistake("gpu_first", "wrong-result", "swapped"),
        Mistake("made_in_16_bits", "wrong-result", "made-in-16-bits"),
        Mistake("rounds_part_by_part", "wrong-result", "rounded-otherwise"),
        Mistake("rounds_to_the_nearest", "wrong-result", "rounded-otherwise"),
        Mistake("forgets_the_making", "wrong-result", "made-forgotten"),
    ),
    source=(
        "DeepSpeed, estimate_zero2_model_states_mem_needs and "
        "estimate_zero3_model_states_mem_needs, and the page Memory Requirements"
    ),
)

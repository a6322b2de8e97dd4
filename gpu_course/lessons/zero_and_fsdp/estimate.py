"""Puzzle `estimate`: what DeepSpeed says that ZeRO 2 and 3 need, with and without offload."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gpu_course.measure.state_formulas import FLOAT32_ADAM, MIXED_ADAM
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

NOTHING, OPTIMIZER, ALL = "nothing", "optimizer", "all"
OFFLOAD = (NOTHING, OPTIMIZER, ALL)

WEIGHT, GRADIENT = MIXED_ADAM.weight, MIXED_ADAM.gradient
STATES = FLOAT32_ADAM.bytes_per_parameter
"""DeepSpeed counts a gradient in float32 among them, beside the copy and the two moments."""


def bytes_needed(
    stage: int,
    parameters: int,
    largest: int,
    gpus: int,
    nodes: int,
    offload: str,
    *,
    buffer: Fraction = Fraction(3, 2),
    made: int = FLOAT32_ADAM.weight,
    states: int = STATES,
    gradient: int = GRADIENT,
    over: str = "all",
    layer: int = WEIGHT + GRADIENT,
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
        on_gpu = WEIGHT * parameters
        if offload == NOTHING:
            on_gpu += (gradient + states) * parameters // ranks
            on_cpu = made * gpus * parameters
        else:
            on_cpu = max(made * gpus * nodes * at_once, states) * parameters
        return int(buffer * on_cpu), on_gpu
    on_gpu = layer * largest
    if offload == NOTHING:
        on_gpu += (WEIGHT + states) * parameters // ranks
        on_cpu = made * gpus * largest
    else:
        kept = states if offload == OPTIMIZER else states + WEIGHT
        on_cpu = Fraction(kept * parameters, nodes if over == "all" else 1)
        on_gpu += WEIGHT * parameters // ranks if offload == OPTIMIZER else 0
    return int(buffer * on_cpu), on_gpu


MAX_PARTS = 6
"""Weights and gradients in two widths each, and two moments: so many numbers may be rounded."""


def _case(
    name: str, stage: int, offload: str, gpus: int, nodes: int, visible: bool = False
) -> Case:
    places = {"stage": stage, "offload": OFFLOAD.index(offload), "gpus": gpus, "nodes": nodes}
    return sized(name, visible=visible, **places)


CASES = (
    _case("visible example", 3, OPTIMIZER, 8, 2, visible=True),
    _case("stage 2", 2, NOTHING, 4, 3),
    _case("stage 2 with offload", 2, OPTIMIZER, 2, 1),
    _case("stage 2 with offload, many GPUs", 2, OPTIMIZER, 8, 4),
    _case("stage 3", 3, NOTHING, 8, 4),
    _case("stage 3, weights offloaded too", 3, ALL, 8, 8),
    _case("stage 3 on one GPU", 3, NOTHING, 1, 1),
)


def _random_case(rng: np.random.Generator) -> Case:
    stage = int(rng.integers(2, 4))
    offload = OFFLOAD[int(rng.integers(0, stage))]
    return _case("a model drawn at random", stage, offload, int(rng.choice([2, 4, 8])), 3)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    # 3 hosts share this evenly, and float64 is exact with 2, 4 and 8. 32 GPUs leave 15/16 of a byte
    # and 8 hosts 5/8: the nearest is not below, and rounding the share early loses a byte.
    parameters = 48 * int(rng.integers(500_000, 200_000_000)) + 39
    if case.visible:
        parameters = 2851 * 10**6
    return {
        "stage": case.sizes["stage"],
        "parameters": parameters,
        "largest": 32 * 10**6 if case.visible else parameters // 40,
        "gpus": case.sizes["gpus"],
        "nodes": case.sizes["nodes"],
        "offload": OFFLOAD[case.sizes["offload"]],
    }


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": bytes_needed(**inputs)}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """How parts are rounded is told by a difference of a few of them at most."""
    pairs = zip(got["result"], expected["result"], strict=True)
    return "rounded-otherwise" if all(abs(g - e) <= MAX_PARTS for g, e in pairs) else None


ESTIMATE = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
)

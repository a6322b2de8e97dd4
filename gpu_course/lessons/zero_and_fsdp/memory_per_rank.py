"""Puzzle `memory_per_rank`: bytes of a rank's states in each stage, ragged ends and buffers too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpu_course.lessons.zero_and_fsdp.pieces import share
from gpu_course.measure.state_formulas import MIXED_ADAM
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

WEIGHT, GRADIENT, STATES = MIXED_ADAM.weight, MIXED_ADAM.gradient, MIXED_ADAM.states


def memory(units: Sequence[int], ranks: int, stage: int, bucket: int) -> int:
    """Returns the bytes of parameters, gradients, states and buffers on the fullest rank.

    Args:
        units: numbers of parameters of each unit, in the order of the model.
        ranks: how many.
        stage: 0 to 3 of ZeRO.
        bucket: gradients that stage 2 collects before it reduces them.

    >>> memory([1000, 1000], 4, 3, 0), memory([1000, 1000], 1, 3, 0)
    (14000, 32000)
    """
    total = sum(units)
    if stage == 0 or ranks == 1:
        return (WEIGHT + GRADIENT + STATES) * total
    mine = share(total, ranks)
    if stage == 1:
        return (WEIGHT + GRADIENT) * total + STATES * mine
    if stage == 2:
        return WEIGHT * total + (GRADIENT + STATES) * mine + GRADIENT * min(bucket, total)
    cut = [share(unit, ranks) for unit in units]
    whole = [ranks * each for each in cut]
    pairs = [a + b for a, b in zip(whole, [*whole[1:], 0], strict=True)]
    kept = (WEIGHT + GRADIENT + STATES) * sum(cut)
    return kept + WEIGHT * max(pairs) + GRADIENT * max(whole)


def _case(
    name: str,
    ranks: int,
    stage: int,
    units: int,
    most: int = 10_000_000,
    visible: bool = False,
    even: bool = False,
) -> Case:
    """Returns a case; where it is even, the ranks divide each unit."""
    sizes = {"ranks": ranks, "stage": stage, "units": units, "most": most}
    return sized(name, visible=visible, **sizes, even=int(even))


CASES = (
    _case("visible example", 4, 3, 3, 40, visible=True),
    _case("no stage", 8, 0, 5),
    _case("stage 1, nothing is left over", 64, 1, 5, even=True),
    _case("stage 2", 6, 2, 5),
    _case("stage 2, a bucket larger than the model", 5, 2, 2, 300),
    _case("stage 3", 7, 3, 6),
    _case("stage 3, one unit that the ranks divide", 16, 3, 1, even=True),
    _case("stage 3, fewer parameters than ranks", 64, 3, 4, 20),
    _case("stage 3 on one rank", 1, 3, 4),
    _case("stage 2 on one rank", 1, 2, 4),
)


def _random_case(rng: np.random.Generator) -> Case:
    ranks, stage = int(rng.integers(2, 600)), int(rng.integers(0, 4))
    return _case("a model drawn at random", ranks, stage, int(rng.integers(2, 9)))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    most = case.sizes["most"]
    units = [int(each) for each in rng.integers(max(1, most // 8), most, case.sizes["units"])]
    # The two largest are no neighbours.
    *rest, second, largest = sorted(units) if len(units) > 2 else [0, *units]
    if len(units) > 2:
        rng.shuffle(rest)
        units = [largest, *rest, second]
    if case.sizes["even"]:
        units = [case.sizes["ranks"] * -(-unit // case.sizes["ranks"]) for unit in units]
    if case.visible:
        units = [38, 9, 21]
    small = "larger" not in case.name
    bucket = int(rng.integers(most // 10, most // 4)) if small else 10 * most
    return {
        "units": units, "ranks": case.sizes["ranks"], "stage": case.sizes["stage"],
        "bucket": 10 if case.visible else bucket,
    }  # fmt: skip


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": memory(**inputs)}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    result, right = got["result"], expected["result"]
    near = isinstance(result, float) and abs(result - right) <= 32 * len(inputs["units"])
    return "not-whole" if near else None


MEMORY_PER_RANK = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
)

"""Puzzle `memory_per_rank`: bytes of a rank's states in each stage, ragged ends and buffers too."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gpu_course.lessons.zero_and_fsdp.pieces import share
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.specification import Case, Debrief, Mistake, PythonPuzzle, Values

WEIGHT, GRADIENT, STATES = 2, 2, 12


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


def _otherwise(
    units: Sequence[int],
    ranks: int,
    stage: int,
    bucket: int,
    *,
    cut: Callable[[int, int], int] = share,
    at_once: bool = False,
    extra: bool = True,
    cap: bool = True,
    pair: bool = True,
    whole_gradient: bool = True,
    biggest_two: bool = False,
    padded: bool = True,
    states: int = STATES,
    alone: bool = True,
) -> int:
    """Returns what comes of one wrong thought; each argument is one."""
    total, per = sum(units), WEIGHT + GRADIENT + states
    if stage == 0 or (ranks == 1 and alone):
        return per * total
    mine = cut(total, ranks)
    if stage == 1:
        return (WEIGHT + GRADIENT) * total + states * mine
    if stage == 2:
        held = (min(bucket, total) if cap else bucket) if extra else 0
        return WEIGHT * total + (GRADIENT + states) * mine + GRADIENT * held
    slices = [cut(unit, ranks) for unit in units]
    whole = [ranks * each for each in slices] if padded else list(units)
    kept = per * (cut(total, ranks) if at_once else sum(slices))
    if not extra:
        return kept
    pairs = [a + b for a, b in zip(whole, [*whole[1:], 0], strict=True)]
    gathered = max(pairs) if pair else max(whole)
    if biggest_two:
        gathered = sum(sorted(whole)[-2:])
    return kept + WEIGHT * gathered + (GRADIENT * max(whole) if whole_gradient else 0)


_THOUGHTS: tuple[tuple[str, Callable[[Values], int]], ...] = (
    ("rounded-down", lambda v: _otherwise(**v, cut=lambda a, n: a // n)),
    ("cut-as-one", lambda v: _otherwise(**v, at_once=True)),
    ("no-buffers", lambda v: _otherwise(**v, extra=False)),
    ("bucket-beyond", lambda v: _otherwise(**v, cap=False)),
    ("one-unit", lambda v: _otherwise(**v, pair=False)),
    ("two-largest", lambda v: _otherwise(**v, biggest_two=True)),
    ("no-gradient", lambda v: _otherwise(**v, whole_gradient=False)),
    ("no-filling", lambda v: _otherwise(**v, padded=False)),
    ("no-master", lambda v: _otherwise(**v, states=8)),
    ("alone", lambda v: _otherwise(**v, alone=False)),
    ("stage-2-for-1", lambda v: memory(**{**v, "stage": 2, "bucket": 0})),
)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    result = got["result"]
    if isinstance(result, float) and 0 < abs(result - expected["result"]) <= 32 * len(
        inputs["units"]
    ):
        return "not-whole"
    for key, thought in _THOUGHTS:
        if result == thought(inputs) != expected["result"]:
            return key
    return None


DEBRIEF = Debrief(
    shows=("result",),
    why=(
        "What is cut shrinks with the ranks, what is not cut stays: 4 bytes in stage 1, 2 in stage "
        "2, and in stage 3 only what is whole for a moment. On many ranks that moment is nearly "
        "all there is."
    ),
    alternative=(
        "A table of (bytes, cut or not) for weights, gradients and states and one loop over it: "
        "the stage only says which rows are cut."
    ),
)

MEMORY_PER_RANK = PythonPuzzle(
    name="23_zero_and_fsdp/memory_per_rank",
    title="bytes of each stage",
    difficulty="medium",
    minutes=15,
    debrief=DEBRIEF,
    statement=(
        "Mixed precision takes 2 bytes for a weight, 2 for its gradient and 12 for Adam's states. "
        "Count what the fullest rank holds in each stage, with the filling of the last slice and "
        "with the buffers of stages 2 and 3."
    ),
    parameters={"memory_per_rank": ("units", "ranks", "stage", "bucket")},
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    diagnoses={
        "rounded-down": (
            "The slices are too short together. Where the ranks do not divide the length, how long "
            "must a slice be so that nothing is left over?"
        ),
        "cut-as-one": (
            "Stage 3 is counted as if the model were cut as one piece. Each unit is gathered by "
            "itself, so each is filled up by itself."
        ),
        "no-buffers": (
            "What is held between the steps is right. While a step runs, stage 2 also holds a "
            "bucket, and stage 3 units and a gradient that are whole."
        ),
        "bucket-beyond": "A bucket holds no more gradients than there are parameters.",
        "one-unit": (
            "One whole unit is counted. While it is used, the next one is already being gathered."
        ),
        "two-largest": (
            "The two largest units are counted. Whole at the same time are units that follow each "
            "other."
        ),
        "no-gradient": (
            "The whole gradient of a unit is missing: it is there before it can be cut and reduced."
        ),
        "no-filling": (
            "A gathered unit is counted without its filling. What n slices of equal length are put "
            "together in is n times as long as one of them."
        ),
        "no-master": (
            "The states have 8 bytes here. Adam's two moments are 8; what else is kept in float32?"
        ),
        "alone": "With one rank nothing is sent, so no buffer is needed.",
        "stage-2-for-1": (
            "That is what stage 2 would hold without its bucket. In stage 1 the gradients are "
            "whole on every rank."
        ),
        "not-whole": (
            "Bytes are whole numbers, and so is the length of a slice. Which way does it round?"
        ),
    },
    hints=(
        "Write down first which of weights, gradients and states are cut in which stage.",
        (
            "A slice of x numbers over n ranks has -(-x // n) of them. In stages 1 and 2 the whole "
            "model is cut as one piece, in stage 3 each unit by itself."
        ),
        (
            "Stage 3: 16 bytes for each number of the slices; 2 bytes times the largest sum of two "
            "neighbours, each n times its slice; 2 bytes times n times the largest slice."
        ),
    ),
    mistakes=(
        Mistake("rounds_down", "wrong-result", "rounded-down"),
        Mistake("cuts_the_model_as_one", "wrong-result", "cut-as-one"),
        Mistake("by_the_paper_alone", "wrong-result", "no-buffers"),
        Mistake("bucket_as_it_is", "wrong-result", "bucket-beyond"),
        Mistake("one_unit_at_a_time", "wrong-result", "one-unit"),
        Mistake("two_largest_units", "wrong-result", "two-largest"),
        Mistake("no_whole_gradient", "wrong-result", "no-gradient"),
        Mistake("gathered_without_filling", "wrong-result", "no-filling"),
        Mistake("moments_alone", "wrong-result", "no-master"),
        Mistake("buffers_for_one", "wrong-result", "alone"),
        Mistake("gradients_cut_in_stage_1", "wrong-result", "stage-2-for-1"),
        Mistake("divides_exactly", "wrong-result", "not-whole"),
    ),
    source="Rajbhandari, Rasley, Ruwase, He, ZeRO, 2019, sections 3.1 and 5, Figure 1",
)

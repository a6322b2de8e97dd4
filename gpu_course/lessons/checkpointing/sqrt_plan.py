"""Puzzle `sqrt_plan`: segments of the square root."""

from __future__ import annotations

import math
from functools import partial

from gpu_course.lessons.checkpointing.equal_stages import (
    OUTPUT_BYTES,
    called,
    case_of,
    equal_inputs,
    random_case,
    too_much,
    why_too_often,
)
from gpu_course.puzzle.planning import followed, most_kept, plain_results, runs_of
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values


def _root_outputs(length: int) -> int:
    return 2 * math.ceil(math.sqrt(length)) + 5


def _judge_root(inputs: Values, case: Case, got: Values) -> Judgement | None:
    length = case.sizes["length"]
    most = max(got["forward_passes"])
    if most > 2:
        where = got["forward_passes"].index(most)
        fact = f"stage {where} is run {most} times; twice is enough for every stage"
        return Judgement(why_too_often(got["schedule"]), fact, "over-budget")
    limit = _root_outputs(length) * OUTPUT_BYTES
    if got["peak_bytes"] <= limit:
        return None
    key = _why_too_much(got["schedule"], length)
    return Judgement(key, too_much(got["peak_bytes"], limit, length), "over-budget")


def _why_too_much(schedule: list[tuple[str, int]], length: int) -> str:
    if max(runs_of(schedule, length)) == 1:
        return "saves-everything"
    inputs, saved = most_kept(schedule)
    if inputs > saved:
        return "segments-too-short"
    # What runs once is the last segment; the others each keep an input.
    last, mean = runs_of(schedule, length).count(1), length / (inputs + 1)
    return "last-segment-long" if last == saved > 1.4 * mean else "segments-too-long"


SQRT_PLAN = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.puzzle.harness.schedules",
    call=called,
    torch=True,
    cases=(
        case_of(9, visible=True),
        case_of(1),
        case_of(2),
        case_of(10),
        case_of(47),
        case_of(100),
    ),
    random_case=random_case,
    inputs=partial(equal_inputs, "sqrt_plan"),
    reference=plain_results,
    follow=followed,
    judge=_judge_root,
)

"""Puzzle `log_plan`: halves of halves."""

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
from gpu_course.puzzle.planning import followed, plain_results
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values
from simt.text import count


def _judge_log(inputs: Values, case: Case, got: Values) -> Judgement | None:
    length = case.sizes["length"]
    depth = math.ceil(math.log2(length))
    # Each level runs half of the stages, and a little more where lengths are odd.
    passes, most = sum(got["forward_passes"]), int(length * (1 + depth / 2 + 1 / 8))
    if passes > most:
        made, stages = count(passes, "forward pass"), count(length, "stage")
        fact = f"{made} for {stages}; {most:,} {'is' if most == 1 else 'are'} enough"
        return Judgement(why_too_often(got["schedule"]), fact, "over-budget")
    limit = (depth + 7) * OUTPUT_BYTES
    if got["peak_bytes"] <= limit:
        return None
    saved = _most_saved(got["schedule"])
    key = "saves-much" if saved > 1 else "keeps-much"
    return Judgement(key, too_much(got["peak_bytes"], limit, length), "over-budget")


def _most_saved(schedule: list[tuple[str, int]]) -> int:
    saved = most = 0
    for word, _ in schedule:
        saved += (word == "save all") - (word == "backward")
        most = max(most, saved)
    return most


LOG_PLAN = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.puzzle.harness.schedules",
    call=called,
    torch=True,
    cases=(
        case_of(8, visible=True),
        case_of(1),
        case_of(2),
        case_of(13),
        case_of(100),
    ),
    random_case=random_case,
    inputs=partial(equal_inputs, "log_plan"),
    reference=plain_results,
    follow=followed,
    judge=_judge_log,
)

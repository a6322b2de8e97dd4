"""Puzzle `log_plan`: halves of halves."""

from __future__ import annotations

import math
from functools import partial

from gpu_course.lessons.checkpointing.planning import (
    OUTPUT_BYTES,
    PLAN_DIAGNOSES,
    TWICE_IN_A_ROW,
    called,
    equal_inputs,
    followed,
    plain_results,
)
from gpu_course.lessons.checkpointing.segments import (
    SOURCE,
    case_of,
    random_case,
    too_much,
    why_too_often,
)
from gpu_course.puzzle.specification import Case, Debrief, Finding, Mistake, PythonPuzzle, Values
from simt.text import count


def _judge_log(inputs: Values, case: Case, got: Values) -> Finding | None:
    length = case.sizes["length"]
    depth = math.ceil(math.log2(length))
    # Each level runs half of the stages, and a little more where lengths are odd.
    passes, most = sum(got["forward_passes"]), int(length * (1 + depth / 2 + 1 / 8))
    if passes > most:
        made, stages = count(passes, "forward pass"), count(length, "stage")
        fact = f"{made} for {stages}; {most:,} {'is' if most == 1 else 'are'} enough"
        return Finding(why_too_often(got["schedule"]), fact, "over-budget")
    limit = (depth + 7) * OUTPUT_BYTES
    if got["peak_bytes"] <= limit:
        return None
    saved = _most_saved(got["schedule"])
    key = "saves-much" if saved > 1 else "keeps-much"
    return Finding(key, too_much(got["peak_bytes"], limit, length), "over-budget")


def _most_saved(schedule: list[tuple[str, int]]) -> int:
    saved = most = 0
    for word, _ in schedule:
        saved += (word == "save all") - (word == "backward")
        most = max(most, saved)
    return most


DEBRIEF = Debrief(
    shows=("peak_bytes", "forward_passes"),
    why=(
        "At any time only the inputs on the way down to the current stage are kept, one for each "
        "halving. Every level runs about half of the stages again, so the work grows with the "
        "number of levels too."
    ),
    alternative=(
        "Written as a recursion or with a stack of segments, it is the same plan. Cutting into "
        "three gives fewer levels and more inputs on each."
    ),
)

LOG_PLAN = PythonPuzzle(
    name="17_checkpointing/log_plan",
    title="halves of halves",
    difficulty="medium",
    minutes=12,
    debrief=DEBRIEF,
    statement=(
        "Write the schedule that halves a chain again and again: memory for about log2(n) outputs, "
        "and each stage run about log2(n) times."
    ),
    parameters={"log_plan": ("length",)},
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
    diagnoses={
        **PLAN_DIAGNOSES,
        "run-too-often": (
            "There are more forward passes than halving needs. Is every cut in the middle? And "
            "each half begins at an input of its own: the first half's has to be kept while you "
            "are busy with the second."
        ),
        "twice-in-a-row": TWICE_IN_A_ROW,
        "keeps-much": (
            "Too many inputs are kept at one time. Halving keeps one for each level: log2(n). "
            "Where is yours cut, and how deep does that go?"
        ),
        "saves-much": (
            "Several stages have everything saved at once. Go on halving until a single stage is "
            "left: save that one, and go back through it at once."
        ),
    },
    hints=(
        (
            "Think of a function that goes backward through the stages from start to stop, given "
            "the input of start. It calls itself twice."
        ),
        (
            "To reach the middle, keep the input of start and run on. Then the second half comes "
            "first, for the gradient comes from there; then the first half, from the kept input."
        ),
        (
            "With one stage left there are two operations: save all of it, backward. With more: "
            '"keep input" for the first stage, "forward" up to the middle, and the two halves.'
        ),
    ),
    mistakes=(
        Mistake("square_root_again", "over-budget", "saves-much"),
        Mistake("one_stage_and_the_rest", "over-budget", "keeps-much"),
        Mistake("from_the_batch_each_time", "over-budget", "run-too-often"),
        Mistake("keeps_an_input_and_then_runs", "over-budget", "twice-in-a-row"),
        Mistake("first_half_first", "wrong-result", "backward-order"),
        Mistake("stops_before_the_middle", "wrong-result", "input-missing"),
        Mistake("forgets_to_keep", "wrong-result", "input-missing"),
        Mistake("goes_back_unsaved", "wrong-result", "not-saved"),
    ),
    source=SOURCE,
)

"""Puzzle `sqrt_plan`: segments of the square root."""

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
    most_kept,
    plain_results,
    runs_of,
)
from gpu_course.lessons.checkpointing.segments import (
    SOURCE,
    case_of,
    random_case,
    too_much,
    why_too_often,
)
from gpu_course.puzzle.specification import Case, Debrief, Finding, Mistake, PythonPuzzle, Values


def _root_outputs(length: int) -> int:
    return 2 * math.ceil(math.sqrt(length)) + 5


def _judge_root(inputs: Values, case: Case, got: Values) -> Finding | None:
    length = case.sizes["length"]
    most = max(got["forward_passes"])
    if most > 2:
        where = got["forward_passes"].index(most)
        fact = f"stage {where} is run {most} times; twice is enough for every stage"
        return Finding(why_too_often(got["schedule"]), fact, "over-budget")
    limit = _root_outputs(length) * OUTPUT_BYTES
    if got["peak_bytes"] <= limit:
        return None
    key = _why_too_much(got["schedule"], length)
    return Finding(key, too_much(got["peak_bytes"], limit, length), "over-budget")


def _why_too_much(schedule: list[tuple[str, int]], length: int) -> str:
    if max(runs_of(schedule, length)) == 1:
        return "saves-everything"
    inputs, saved = most_kept(schedule)
    if inputs > saved:
        return "segments-too-short"
    # What runs once is the last segment; the others each keep an input.
    last, mean = runs_of(schedule, length).count(1), length / (inputs + 1)
    return "last-segment-long" if last == saved > 1.4 * mean else "segments-too-long"


DEBRIEF = Debrief(
    shows=("peak_bytes", "forward_passes"),
    why=(
        "Memory is one input per segment plus everything of one segment, and this sum is smallest "
        "where both are about sqrt(n). Each segment runs once more, so a stage runs twice at most."
    ),
    alternative=(
        "The last segment may save everything on its first run, which spares one run of its "
        "stages. Segments that shrink towards the end save a little more."
    ),
)

SQRT_PLAN = PythonPuzzle(
    name="17_checkpointing/sqrt_plan",
    title="segments of the square root",
    difficulty="medium",
    minutes=12,
    debrief=DEBRIEF,
    statement=(
        "Write the schedule that cuts a chain of n equal stages into about sqrt(n) segments: twice "
        "sqrt(n) outputs in memory instead of n, and no stage run more than twice."
    ),
    parameters={"sqrt_plan": ("length",)},
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
    diagnoses={
        **PLAN_DIAGNOSES,
        "run-too-often": (
            "A stage is run three times or more. Begin a segment again from the input that was "
            "kept for it, not from the batch, and run it once."
        ),
        "twice-in-a-row": TWICE_IN_A_ROW,
        "saves-everything": (
            "Nothing is run twice here, so everything was kept. On the way forward a segment "
            "leaves its input and nothing else."
        ),
        "segments-too-long": (
            "Few inputs are kept, but a segment that is run again saves everything of all its "
            "stages at once. What happens to the sum of the two if the segments get shorter?"
        ),
        "segments-too-short": (
            "A segment saves little, but there are so many that their inputs fill the memory. "
            "What happens to the sum of the two if the segments get longer?"
        ),
        "last-segment-long": (
            "The last segment is longer than the others: it got what was left over, and everything "
            "of it is saved at once. Leave the rest to a shorter segment of its own."
        ),
    },
    hints=(
        (
            "k segments of n / k stages take k inputs and n / k outputs. For which k is "
            "k + n / k least?"
        ),
        (
            "Three parts: forward through all segments but the last, keeping each one's first "
            "input; then save all of the last one and go back; then take the others from the end "
            "to the front, each saved anew and gone back through."
        ),
        (
            "Make a list of where segments begin, and put the length behind it: neighbours in that "
            "list are the bounds of a segment, also where the last one is shorter."
        ),
    ),
    equivalent_mutants={
        "sqrt_plan:function:size = math.floor(math.sqrt(length))": (
            "Segments of floor(sqrt(n)) are as good: one more of them, each a stage shorter."
        ),
        "sqrt_plan:constant:segments = list(zip(starts, stops, strict=False))": (
            "There is a stop for every start, so there is nothing for strict to object to."
        ),
    },
    mistakes=(
        Mistake("keeps_everything", "over-budget", "saves-everything"),
        Mistake("two_halves", "over-budget", "segments-too-long"),
        Mistake("a_segment_for_each_stage", "over-budget", "segments-too-short"),
        Mistake("from_the_batch_each_time", "over-budget", "run-too-often"),
        Mistake("keeps_an_input_and_then_runs", "over-budget", "twice-in-a-row"),
        Mistake("the_rest_in_the_last_segment", "over-budget", "last-segment-long"),
        Mistake("forgets_the_rest", "wrong-result", "backward-order"),
        Mistake("segments_front_to_back", "wrong-result", "backward-order"),
        Mistake("off_by_one_segment", "wrong-result", "input-missing"),
        Mistake("runs_again_without_saving", "wrong-result", "not-saved"),
        Mistake("stops_at_the_first_segment", "wrong-result", "unfinished"),
        Mistake("stages_without_words", "wrong-result", "wrong-form"),
    ),
    source=SOURCE,
)

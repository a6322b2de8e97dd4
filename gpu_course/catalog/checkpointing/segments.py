"""Puzzles `sqrt_plan` and `log_plan`: the two plans of Chen's paper, followed on a real chain."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from gpu_course.catalog.checkpointing import debriefs
from gpu_course.catalog.checkpointing.planning import (
    OUTPUT_BYTES,
    PLAN_DIAGNOSES,
    TWICE_IN_A_ROW,
    called,
    equal_inputs,
    followed,
    most_kept,
    plain_results,
    run_twice_in_a_row,
    runs_of,
)
from gpu_course.catalog.specification import Case, Finding, Mistake, PythonPuzzle, Values
from gpu_course.units import count

SOURCE = "Chen, Xu, Zhang, Guestrin, arXiv 1604.06174, section 4"


def _case(length: int, visible: bool = False) -> Case:
    stages = "one stage" if length == 1 else f"{length} stages"
    return Case("visible example" if visible else stages, {"length": length}, visible)


def _random_case(rng: np.random.Generator) -> Case:
    return Case("a length drawn at random", {"length": int(rng.integers(11, 60))})


def _root_outputs(length: int) -> int:
    return 2 * math.ceil(math.sqrt(length)) + 5


def _judge_root(inputs: Values, case: Case, got: Values) -> Finding | None:
    length = case.sizes["length"]
    most = max(got["forward_passes"])
    if most > 2:
        where = got["forward_passes"].index(most)
        fact = f"stage {where} is run {most} times; twice is enough for every stage"
        return Finding(_why_too_often(got["schedule"]), fact, "over-budget")
    limit = _root_outputs(length) * OUTPUT_BYTES
    if got["peak_bytes"] <= limit:
        return None
    key = _why_too_much(got["schedule"], length)
    return Finding(key, _too_much(got["peak_bytes"], limit, length), "over-budget")


def _why_too_often(schedule: list[tuple[str, int]]) -> str:
    return "run-too-often" if run_twice_in_a_row(schedule) is None else "twice-in-a-row"


def _why_too_much(schedule: list[tuple[str, int]], length: int) -> str:
    if max(runs_of(schedule, length)) == 1:
        return "saves-everything"
    inputs, saved = most_kept(schedule)
    if inputs > saved:
        return "segments-too-short"
    # What runs once is the last segment; the others each keep an input.
    last, mean = runs_of(schedule, length).count(1), length / (inputs + 1)
    return "last-segment-long" if last == saved > 1.4 * mean else "segments-too-long"


def _judge_log(inputs: Values, case: Case, got: Values) -> Finding | None:
    length = case.sizes["length"]
    depth = math.ceil(math.log2(length))
    # Each level runs half of the stages, and a little more where lengths are odd.
    passes, most = sum(got["forward_passes"]), int(length * (1 + depth / 2 + 1 / 8))
    if passes > most:
        made, stages = count(passes, "forward pass"), count(length, "stage")
        fact = f"{made} for {stages}; {most:,} {'is' if most == 1 else 'are'} enough"
        return Finding(_why_too_often(got["schedule"]), fact, "over-budget")
    limit = (depth + 7) * OUTPUT_BYTES
    if got["peak_bytes"] <= limit:
        return None
    saved = _most_saved(got["schedule"])
    key = "saves-much" if saved > 1 else "keeps-much"
    return Finding(key, _too_much(got["peak_bytes"], limit, length), "over-budget")


def _most_saved(schedule: list[tuple[str, int]]) -> int:
    saved = most = 0
    for word, _ in schedule:
        saved += (word == "save all") - (word == "backward")
        most = max(most, saved)
    return most


def _too_much(peak: int, limit: int, length: int) -> str:
    return (
        f"{count(peak, 'byte')} alive at one time; {count(length, 'stage')} may take {limit:,} "
        f"({count(limit // OUTPUT_BYTES, 'output')})"
    )


SQRT_PLAN = PythonPuzzle(
    name="17_checkpointing/sqrt_plan",
    title="segments of the square root",
    difficulty="medium",
    minutes=12,
    debrief=debriefs.SQRT_PLAN,
    statement=(
        "Write the schedule that cuts a chain of n equal stages into about sqrt(n) segments: twice "
        "sqrt(n) outputs in memory instead of n, and no stage run more than twice."
    ),
    parameters={"sqrt_plan": ("length",)},
    harness="schedule_followed",
    call=called,
    torch=True,
    cases=(
        _case(9, visible=True),
        _case(1),
        _case(2),
        _case(10),
        _case(47),
        _case(100),
    ),
    random_case=_random_case,
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

LOG_PLAN = PythonPuzzle(
    name="17_checkpointing/log_plan",
    title="halves of halves",
    difficulty="medium",
    minutes=12,
    debrief=debriefs.LOG_PLAN,
    statement=(
        "Write the schedule that halves a chain again and again: memory for about log2(n) outputs, "
        "and each stage run about log2(n) times."
    ),
    parameters={"log_plan": ("length",)},
    harness="schedule_followed",
    call=called,
    torch=True,
    cases=(
        _case(8, visible=True),
        _case(1),
        _case(2),
        _case(13),
        _case(100),
    ),
    random_case=_random_case,
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

"""Puzzle `dualpipe`: two pipelines in opposite directions over the same ranks."""

from __future__ import annotations

import numpy as np

from gpu_course.measure.pipelines.actions import v_shaped
from gpu_course.measure.pipelines.rules import in_flight
from gpu_course.measure.pipelines.timing import Costs, simulate
from gpu_course.puzzle import pipeline_orders
from gpu_course.puzzle.pipeline_orders import case
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values

WAYS = 2


def _random_case(rng: np.random.Generator) -> Case:
    ranks = 2 * int(rng.integers(1, 5))
    return case("drawn at random", ranks, 2 * ranks + 2 * int(rng.integers(0, 6)))


def _follow(inputs: Values, case: Case, got: Values) -> Values:
    schedule = pipeline_orders.able_to_run(
        got["result"], case, placement=v_shaped(inputs["ranks"]), ways=WAYS
    )
    run = simulate(schedule, Costs())
    return {
        "time": run.cost,
        "bubble": run.bubble_rate,
        "in_flight": list(in_flight(schedule)),
        "slowest": pipeline_orders.slowest(run),
        "pairs": [len(each) for each in schedule.pairs] or [0] * schedule.ranks,
    }


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    ranks, microbatches = inputs["ranks"], inputs["microbatches"]
    if fact := pipeline_orders.rank_over(got, [ranks + 1] * ranks):
        return Judgement("holds-too-many", fact, "over-budget")
    least = 3 * microbatches + ranks - 2
    if got["time"] > least:
        return Judgement("slow", pipeline_orders.slowest_rank(got, least), "over-budget")
    least_pairs = microbatches - 3 * ranks // 2
    for rank, pairs in enumerate(got["pairs"]):
        if pairs < least_pairs:
            fact = f"rank {rank} does {pairs} pairs; {least_pairs} are asked for"
            return Judgement("too-few-pairs", fact, "over-budget")
    return None


DUALPIPE = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        case("visible example", 4, 8, visible=True),
        case("two ranks", 2, 4),
        case("six ranks", 6, 14),
        case("the report's figure", 8, 20),
        case("many microbatches", 4, 26),
    ),
    random_case=_random_case,
    inputs=pipeline_orders.inputs,
    reference=pipeline_orders.nothing_to_compare,
    follow=_follow,
    judge=_judge,
)

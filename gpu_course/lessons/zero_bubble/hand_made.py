"""What the two orders made by hand share: their cases, and what they are held to."""

from __future__ import annotations

from collections.abc import Callable

from gpu_course.measure.pipelines.actions import BACKWARD
from gpu_course.measure.pipelines.rules import in_flight
from gpu_course.measure.pipelines.timing import Costs, simulate
from gpu_course.puzzle import pipeline_orders
from gpu_course.puzzle.specification import Case, Judgement, Values

EQUAL = Costs()
"""F, I and W take 1 each, as the two orders are made for."""


def follow(inputs: Values, case: Case, got: Values) -> Values:
    """Returns what an answer's orders take where F, I and W are equally long.

    Raises:
        Unusable: what came back is no table of orders, or no ranks could follow it.
    """
    schedule = pipeline_orders.able_to_run(got["result"], case)
    run = simulate(schedule, EQUAL)
    return {
        "time": run.cost,
        "bubble": run.bubble_rate,
        "in_flight": list(in_flight(schedule)),
        "slowest": pipeline_orders.slowest(run),
        "whole": any(each.kind == BACKWARD for order in schedule.orders for each in order),
    }


def judge(
    most: Callable[[int], int], least: Callable[[int, int], int]
) -> Callable[[Values, Case, Values], Judgement | None]:
    """Returns a judge of what is held and how long it takes.

    Args:
        most: ranks -> the most microbatches that a rank may hold.
        least: (ranks, microbatches) -> the time from a rank's first start to its last end.
    """

    def judged(inputs: Values, case: Case, got: Values) -> Judgement | None:
        ranks, microbatches = inputs["ranks"], inputs["microbatches"]
        if fact := pipeline_orders.rank_over(got, [most(ranks)] * ranks):
            return Judgement("holds-too-many", fact, "over-budget")
        if got["time"] > least(ranks, microbatches):
            would = least(ranks, microbatches)
            key = "slow-and-whole" if got["whole"] else "slow"
            return Judgement(key, pipeline_orders.slowest_rank(got, would), "over-budget")
        return None

    return judged

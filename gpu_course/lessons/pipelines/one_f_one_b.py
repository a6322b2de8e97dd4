"""Puzzle `one_f_one_b`: one forward, one backward, and no more held than must be."""

from __future__ import annotations

from gpu_course.puzzle import pipeline_orders
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    ranks, microbatches = inputs["ranks"], inputs["microbatches"]
    most = [min(ranks - rank, microbatches) for rank in range(ranks)]
    if fact := pipeline_orders.rank_over(got, most):
        return Judgement("holds-too-many", fact, "over-budget")
    if fact := pipeline_orders.too_slow(case, got):
        return Judgement("slow", fact, "over-budget")
    return None


ONE_F_ONE_B = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=pipeline_orders.CASES,
    random_case=pipeline_orders.random_case,
    inputs=pipeline_orders.inputs,
    reference=pipeline_orders.nothing_to_compare,
    follow=pipeline_orders.follow,
    judge=_judge,
)

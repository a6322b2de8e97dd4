"""Puzzle `gpipe_order`: fill the pipeline, then drain it."""

from __future__ import annotations

from gpu_course.puzzle import pipeline_orders
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    for rank, order in enumerate(got["orders"]):
        words, step = order.split(), pipeline_orders.first_backward(order)
        late = [word for word in words[step:] if "F" in word]
        if late:
            fact = f"rank {rank} does {words[step]} at step {step}, and {late[0]} after it"
            return Judgement("not-filled", fact)
    if slow := pipeline_orders.too_slow(case, got):
        return Judgement("slow", slow, "over-budget")
    return None


GPIPE_ORDER = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=pipeline_orders.CASES,
    random_case=pipeline_orders.random_case,
    inputs=pipeline_orders.inputs,
    reference=pipeline_orders.nothing_to_compare,
    follow=pipeline_orders.follow,
    judge=_judge,
)

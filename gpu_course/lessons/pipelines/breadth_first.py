"""Puzzle `breadth_first`: a stage sees every microbatch before the next begins."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gpu_course.puzzle import pipeline_orders
from gpu_course.puzzle.pipeline_orders import case
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    chunks = inputs["chunks"]
    for rank, order in enumerate(got["orders"]):
        ways = [word.rstrip("0123456789") for word in order.split()]
        times = 1 + sum(before != after for before, after in pairwise(ways))
        if times > 2 * chunks:
            fact = (
                f"rank {rank} turns to a stage {times} times, and {2 * chunks} would do: once for "
                "each way of each stage"
            )
            return Judgement("comes-back", fact, "over-budget")
    if slow := pipeline_orders.too_slow(case, got):
        return Judgement("slow", slow, "over-budget")
    return None


def _random_case(rng: np.random.Generator) -> Case:
    ranks, chunks = int(rng.integers(2, 5)), int(rng.integers(2, 5))
    return case("drawn at random", ranks, ranks + int(rng.integers(0, 6)), chunks)


BREADTH_FIRST = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        case("visible example", 2, 3, 2, visible=True),
        case("four ranks", 4, 8, 2),
        case("three chunks, an odd number of microbatches", 3, 7, 3),
        case("one chunk", 4, 5, 1),
        case("one rank", 1, 3, 3),
        case("as many microbatches as ranks", 4, 4, 3),
    ),
    random_case=_random_case,
    inputs=pipeline_orders.inputs_with_chunks,
    reference=pipeline_orders.nothing_to_compare,
    follow=pipeline_orders.follow,
    judge=_judge,
)

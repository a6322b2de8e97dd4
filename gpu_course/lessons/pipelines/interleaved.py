"""Puzzle `interleaved`: each rank holds several stages, and the bubble is divided."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle import pipeline_orders
from gpu_course.puzzle.pipeline_orders import case
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    ranks, chunks = inputs["ranks"], inputs["chunks"]
    in_all = inputs["microbatches"] * chunks
    most = [min(2 * (ranks - rank - 1) + (chunks - 1) * ranks + 1, in_all) for rank in range(ranks)]
    if fact := pipeline_orders.rank_over(got, most):
        return Judgement("holds-too-many", fact, "over-budget")
    if fact := pipeline_orders.too_slow(case, got):
        return Judgement("slow", fact, "over-budget")
    return None


def _random_case(rng: np.random.Generator) -> Case:
    ranks, chunks, groups = int(rng.integers(2, 5)), int(rng.integers(2, 4)), rng.integers(1, 4)
    return case("drawn at random", ranks, ranks * int(groups), chunks)


INTERLEAVED = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        case("visible example", 2, 4, 2, visible=True),
        case("four ranks", 4, 8, 2),
        case("three chunks", 3, 6, 3),
        case("one chunk", 4, 8, 1),
        case("one rank", 1, 3, 3),
        case("as many microbatches as ranks", 4, 4, 2),
        case("many chunks", 2, 6, 5),
    ),
    random_case=_random_case,
    inputs=pipeline_orders.inputs_with_chunks,
    reference=pipeline_orders.nothing_to_compare,
    follow=pipeline_orders.follow,
    judge=_judge,
)

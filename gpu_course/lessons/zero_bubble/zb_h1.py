"""Puzzle `zb_h1`: W where a bubble was."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.zero_bubble import hand_made
from gpu_course.puzzle import pipeline_orders
from gpu_course.puzzle.pipeline_orders import case
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle


def _random_case(rng: np.random.Generator) -> Case:
    ranks = int(rng.integers(2, 7))
    return case("drawn at random", ranks, ranks + int(rng.integers(0, 12)))


ZB_H1 = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        case("visible example", 4, 6, visible=True),
        case("one rank", 1, 3),
        case("two ranks", 2, 5),
        case("as many microbatches as ranks", 5, 5),
        case("many microbatches", 3, 17),
    ),
    random_case=_random_case,
    inputs=pipeline_orders.inputs,
    reference=pipeline_orders.nothing_to_compare,
    follow=hand_made.follow,
    judge=hand_made.judge(
        lambda ranks: ranks, lambda ranks, microbatches: 3 * microbatches + ranks - 1
    ),
)

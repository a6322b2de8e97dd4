"""Puzzle `zb_h2`: no bubble, for twice the memory."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.zero_bubble import hand_made
from gpu_course.puzzle import pipeline_orders
from gpu_course.puzzle.pipeline_orders import case
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle


def _random_case(rng: np.random.Generator) -> Case:
    ranks = int(rng.integers(2, 7))
    return case("drawn at random", ranks, 2 * ranks - 1 + int(rng.integers(0, 12)))


ZB_H2 = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        case("visible example", 3, 7, visible=True),
        case("one rank", 1, 3),
        case("two ranks", 2, 5),
        case("as few microbatches as can do", 4, 7),
        case("five ranks", 5, 12),
        case("many microbatches", 3, 17),
    ),
    random_case=_random_case,
    inputs=pipeline_orders.inputs,
    reference=pipeline_orders.nothing_to_compare,
    follow=hand_made.follow,
    judge=hand_made.judge(
        lambda ranks: 2 * ranks - 1, lambda ranks, microbatches: 3 * microbatches
    ),
)

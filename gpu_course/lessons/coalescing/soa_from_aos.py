"""Puzzle `soa_from_aos`: four numbers side by side become four arrays."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.coalescing.pieces import TPB, loads_in_order, stores_in_order
from gpu_course.puzzle.builders import blocks_to_cover, drawn_case, eighths, gives, sized, special
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Case,
    KernelPuzzle,
    Launch,
    Share,
    Values,
)

FIELDS = 4


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    size = case.sizes["size"]
    return {"a": eighths(rng, (size, FIELDS), case), "size": size}


SOA_FROM_AOS = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=72),
        sized("one particle", size=1),
        sized("exactly two blocks", size=2 * TPB),
        sized("one particle more than two blocks", size=2 * TPB + 1),
        sized("203 large particles", size=203, doublings=100),
        special("NaN and infinities", size=73),
    ),
    random_case=drawn_case(size=(TPB + 1, 400)),
    inputs=_inputs,
    launches=lambda case: (
        Launch(
            "soa_from_aos",
            blocks_to_cover(case.sizes["size"], TPB),
            TPB,
            ("out", "a", "size"),
        ),
    ),
    reference=gives(lambda a: a.T.copy()),
    budgets=(
        loads_in_order(
            "Neighbouring lanes load numbers that do not lie side by side in a. Along a, which "
            "number comes right after x of particle 0, and which lane should have it?"
        ),
        stores_in_order(
            "The lanes that write one field have particles that do not lie side by side. Which "
            "particles does a warp hold at one moment?"
        ),
    ),
    share=Share("Each thread moves at most FIELDS numbers.", FIELDS),
)

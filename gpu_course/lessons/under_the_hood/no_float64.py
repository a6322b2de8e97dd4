"""Puzzle `no_float64`: every leak of float64 in a kernel that is right."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.under_the_hood.pieces import IN_FLOAT32, TPB
from gpu_course.puzzle.builders import arrays, blocks_to_cover, drawn_case, gives, sized, special
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, KernelPuzzle, Launch, Share, Values

EPS = 1e-5
FAR = 65536
"""What a case with the size "far" adds to all numbers: a float32 there has steps of 1/128."""

_plain = arrays("rows", "cols", a="rows cols")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    values = _plain(rng, case)
    if case.sizes.get("far"):
        values["a"] += np.float32(FAR)
    if case.sizes.get("alike"):
        # A column without a spread, the second: what it is divided by is the root of EPS.
        values["a"][:, 1] = values["a"][0, 1]
    return values


def _standardised(a: np.ndarray) -> np.ndarray:
    wide = a.astype(np.float64)
    with np.errstate(invalid="ignore"):  # infinity less infinity
        off = wide - wide.mean(axis=0)
        return (off / np.sqrt((off * off).mean(axis=0) + EPS)).astype(np.float32)


NO_FLOAT64 = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=5, cols=40),
        sized("one number", rows=1, cols=1),
        sized("one row", rows=1, cols=70),
        sized("two whole blocks", rows=3, cols=128),
        sized("far from zero", rows=12, cols=33, far=1),
        sized("a column whose numbers are the same", rows=7, cols=3, alike=1),
        special("NaN and infinities", rows=6, cols=41),
    ),
    random_case=drawn_case(rows=(3, 9), cols=(30, 80)),
    inputs=_inputs,
    launches=lambda case: (
        Launch(
            "no_float64",
            blocks_to_cover(case.sizes["cols"], TPB),
            TPB,
            ("out", "a", "rows", "cols"),
        ),
    ),
    reference=gives(_standardised),
    tolerance=(0.0, 1e-3),
    budgets=(IN_FLOAT32,),
    share=Share(
        "A thread has a column: it writes no cell of any other.",
        lambda case, output: case.sizes["rows"],
    ),
)

"""Puzzle `warp_max_all`: every lane learns the largest number of its warp."""

from __future__ import annotations

import math

import numpy as np

from gpu_course.lessons.warps import pieces
from gpu_course.lessons.warps.pieces import CASES, TPB, WARP, by_warp, cells
from gpu_course.puzzle.builders import (
    INFINITIES,
    ONE_CELL_EACH,
    began_too_high,
    eighths,
    enough_blocks,
    gives,
    sized,
    special,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Bonus, Case, KernelPuzzle, Values
from gpu_course.puzzle.warp_budgets import NO_ATOMICS, STEPS


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    size = case.sizes["size"]
    a = eighths(rng, size, case)
    if case.sizes.get("below"):
        a = a - np.float32((size + 5) * 2.0 ** (case.sizes.get("doublings", 0) - 3))
    if case.special:
        # The last warp is not full, and whatever its idle lanes hold has to be as small as this.
        a[size // WARP * WARP :] = -math.inf
    return {"a": a, "size": size}


def _largest_of(a: np.ndarray, lanes: int) -> np.ndarray:
    """The largest number of each group of so many lanes, in all its cells."""
    groups = by_warp(a).reshape(-1, lanes)
    with np.errstate(all="ignore"):
        largest = np.fmax.reduce(groups, axis=1)
    return cells(np.repeat(largest, lanes), len(a))


def _right(a: np.ndarray) -> np.ndarray:
    return _largest_of(a, WARP)


WARP_MAX_ALL = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        *CASES,
        sized("all numbers below 0", size=75, below=1),
        sized("numbers near the low end of float32", size=100, below=1, doublings=118),
        special("infinities", INFINITIES, size=101),
    ),
    random_case=pieces.random_case,
    inputs=_inputs,
    launches=enough_blocks("warp_max_all", "out", "a", "size", block=TPB),
    reference=gives(_right),
    budgets=(
        pieces.NO_TILE,
        *NO_ATOMICS,
        pieces.READ_ONCE,
        pieces.shuffles(
            "Five shuffles are enough for every lane to know the result, if both lanes of a pair "
            "learn something in each of them."
        ),
    ),
    diagnose=began_too_high,
    share=ONE_CELL_EACH,
    bonus=Bonus(
        "shuffles",
        lambda case: STEPS * -(-case.sizes["size"] // WARP),
    ),
)

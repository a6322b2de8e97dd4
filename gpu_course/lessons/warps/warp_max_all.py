"""Puzzle `warp_max_all`: every lane learns the largest number of its warp."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gpu_course.lessons.warps import pieces
from gpu_course.lessons.warps.pieces import CASES, TPB, WARP, by_warp, cells
from gpu_course.puzzle.builders import (
    INFINITIES,
    ONE_CELL_EACH,
    Idea,
    eighths,
    enough_blocks,
    gives,
    recognise,
    sized,
    special,
    where_written,
)
from gpu_course.puzzle.room import told
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


def _from_here_on(a: np.ndarray) -> np.ndarray:
    rows = by_warp(a)[:, ::-1]
    return cells(np.fmax.accumulate(rows, axis=1)[:, ::-1], len(a))


def _at_least_zero(a: np.ndarray) -> np.ndarray:
    """What comes out where lanes without a cell hold a 0."""
    rows = by_warp(a, fill=0)
    return cells(np.repeat(rows.max(axis=1), WARP), len(a))


def _in_lane_0(a: np.ndarray) -> np.ndarray:
    return where_written(_right(a), np.arange(len(a)) % WARP == 0)


def _summed(a: np.ndarray) -> np.ndarray:
    return cells(np.repeat(by_warp(a, fill=0).sum(axis=1, dtype=np.float32), WARP), len(a))


def _too_large_or(
    *ideas: tuple[str, Idea],
) -> Callable[[Values, Case, Values, Values], str | None]:
    """Knows the ideas, and one number in all wrong cells that is larger than any of the input."""
    known = recognise(*ideas)

    def diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
        key = known(inputs, case, expected, got)
        wrong = got["out"][got["out"] != expected["out"]]
        if key is None and wrong.size and (wrong == wrong[0]).all():
            tail = inputs["a"][-(case.sizes["size"] % WARP or WARP) :]
            if wrong.size == tail.size and (tail < wrong[0]).all():
                return "began-too-high"
        return key

    return diagnose


WARP_MAX_ALL = KernelPuzzle(
    **told(__file__),
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
    diagnose=_too_large_or(
        ("from-here-on", _from_here_on),
        ("half-a-warp", lambda a: _largest_of(a, 16)),
        ("groups", lambda a: _largest_of(a, 8)),
        ("began-at-zero", _at_least_zero),
        ("one-lane", _in_lane_0),
        ("summed", _summed),
    ),
    share=ONE_CELL_EACH,
    bonus=Bonus(
        "shuffles",
        lambda case: STEPS * -(-case.sizes["size"] // WARP),
    ),
)

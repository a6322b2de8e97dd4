"""Puzzle `deterministic_sum`: a sum with the same bits every time."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from gpu_course.lessons.reductions_and_scans.scan_pieces import (
    TPB,
)
from gpu_course.lessons.reductions_and_scans.sums import AS_FEW_SHUFFLES
from gpu_course.puzzle.builders import blocks_to_cover, drawn_case, sized, with_special_numbers
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Budget,
    Case,
    KernelPuzzle,
    Launch,
    Share,
    Values,
)

EACH = 8
PIECE = TPB * EACH
FEW, MANY = 3, 7
"""The two grids."""

ROUNDING = 0.001
"""More than any order of additions can make of the rounding, and far less than any one number."""


def _pieces(case: Case) -> int:
    return blocks_to_cover(case.sizes["size"], PIECE)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    """All 24 bits of each number count, and a sum is hardly larger: orders show in its last bits.

    No number is small, so one that is left out shows.
    """
    size = case.sizes["size"]
    found = np.unique(rng.integers(1 << 22, 1 << 24, size + size // 100 + 8))
    numbers = rng.permutation(found)[:size]
    return {
        "a": (rng.choice((-1, 1), size) * numbers / 2**24).astype(np.float32),
        "size": size,
        "pieces": _pieces(case),
        "parts_of_few": np.zeros(max(_pieces(case), MANY), np.float32),
        "parts_of_many": np.zeros(max(_pieces(case), MANY), np.float32),
    }


def _infinite_at_the_end(values: Values) -> None:
    values["a"][-1] = np.inf


def _scratch(inputs: Values, case: Case) -> dict[str, np.ndarray]:
    return {name: inputs[name].copy() for name in ("parts_of_few", "parts_of_many")}


def _launches(case: Case) -> tuple[Launch, ...]:
    return tuple(
        launch
        for grid, out, parts in ((FEW, "few", "parts_of_few"), (MANY, "many", "parts_of_many"))
        for launch in (
            Launch("sum_pieces", grid, TPB, (parts, "a", "size", "pieces")),
            Launch("sum_parts", 1, TPB, (out, parts, "pieces")),
        )
    )


def _sum(a: np.ndarray) -> np.ndarray:
    return np.array([math.fsum(a.tolist())], np.float32)


DETERMINISTIC_SUM = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=8 * PIECE - 90),
        sized("one cell", size=1),
        sized("exactly two pieces", size=2 * PIECE),
        sized("one cell more than eight pieces", size=8 * PIECE + 1),
        sized("more pieces than threads", size=66 * PIECE + 7),
        sized("an infinite number at the end", size=70, infinite=1),
    ),
    random_case=drawn_case(size=(8 * PIECE, 20 * PIECE)),
    inputs=with_special_numbers(_inputs, infinite=_infinite_at_the_end),
    scratch=_scratch,
    launches=_launches,
    reference=lambda inputs, case: {"few": _sum(inputs["a"]), "many": _sum(inputs["a"])},
    tolerance=(0.0, ROUNDING),
    same_bits=("few", "many"),
    budgets=(
        Budget(
            "float64_operations",
            0,
            "More digits make a difference rarer, not impossible, and a card for graphics or "
            "inference has few units for them. An order that is fixed costs nothing.",
            "float64 operations",
        ),
        Budget(
            "global_load.bytes",
            lambda case, counters: 2 * 4 * (case.sizes["size"] + 2 * _pieces(case)),
            "Each number and each part is needed once.",
            "bytes loaded from global memory",
        ),
        replace(
            AS_FEW_SHUFFLES,
            lesson="A thread can add up its own numbers of a piece first, in a fixed order. Then "
            "32 sums are left in a warp, and these become one in five steps.",
        ),
    ),
    share=Share("Each thread writes at most one cell of out."),
)

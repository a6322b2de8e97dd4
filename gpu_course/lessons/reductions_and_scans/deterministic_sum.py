"""Puzzle `deterministic_sum`: a sum with the same bits every time."""

from __future__ import annotations

import math

import numpy as np

from gpu_course.lessons.reductions_and_scans.scan_pieces import (
    TPB,
    WARP,
    WARP_CONSTANTS,
    WHOLE_WARPS,
    in_tiles,
)
from gpu_course.lessons.reductions_and_scans.sums import AS_FEW_SHUFFLES
from gpu_course.puzzle.builders import blocks_to_cover, drawn, sized, with_special_numbers
from gpu_course.puzzle.specification import (
    Budget,
    Case,
    Debrief,
    KernelPuzzle,
    Launch,
    Mistake,
    Share,
    Values,
)

FEW, MANY = 3, 7
"""The two grids."""

ROUNDING = 0.001
"""More than any order of additions can make of the rounding, and far less than any one number."""


def _pieces(case: Case) -> int:
    return blocks_to_cover(case.sizes["size"], TPB)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    """All 24 bits of each number count, and a sum is hardly larger: orders show in its last bits.

    No number is small, so one that is left out shows.
    """
    size = case.sizes["size"]
    found = np.unique(rng.integers(1 << 22, 1 << 24, size + 8))
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


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    pieces = in_tiles(inputs["a"], TPB)
    for key, most in (("pieces-left-out", FEW), ("parts-left-out", TPB)):
        if len(pieces) > most:
            some = _sum(np.concatenate(pieces[:most]))
            if np.allclose(got["few"], some, rtol=0, atol=ROUNDING):
                return key
    return None


DEBRIEF = Debrief(
    shows=("global_load.bytes", "shuffles", "barriers"),
    why=(
        "Which numbers are added to which, and in what order, follows from their places in the "
        "array alone. Neither the grid nor the order in which blocks run has a say in it."
    ),
    alternative=(
        "Whole numbers can be added in any order. So a sum in fixed point, each number rounded to "
        "the same small step and added up as an int64, has the same bits too, even with atomics."
    ),
)

DETERMINISTIC_SUM = KernelPuzzle(
    name="05_reductions_and_scans/deterministic_sum",
    title="the same bits every time",
    difficulty="medium",
    minutes=15,
    debrief=DEBRIEF,
    statement=(
        "out[0] is the sum of all numbers of a. sum_pieces is launched with some number of blocks "
        "and leaves what it likes in parts; sum_parts is a single block and adds up the parts. "
        "Both are launched twice, the first time with another grid than the second: the two sums "
        "must have the same bits, in whatever order blocks run. Stay with float32. Each thread "
        "writes at most one cell of out. An infinity counts as in any sum, and a holds no NaN."
    ),
    parameters={
        "sum_pieces": ("parts", "a", "size", "pieces"),
        "sum_parts": ("out", "parts", "pieces"),
    },
    cases=(
        sized("visible example", visible=True, size=600),
        sized("one cell", size=1),
        sized("exactly two pieces", size=128),
        sized("one cell more than eight pieces", size=513),
        sized("more pieces than threads", size=66 * 64 + 7),
        sized("an infinite number at the end", size=70, infinite=1),
    ),
    random_case=drawn(size=(500, 1500)),
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
        AS_FEW_SHUFFLES,
    ),
    diagnose=_diagnose,
    diagnoses={
        **WHOLE_WARPS,
        "race": (
            "A thread touches a cell of shared memory that another one writes in the same "
            "interval. In a loop the next round belongs to the interval too."
        ),
        "order-dependent": (
            "The sum has other bits when the blocks run in another order. Atomics add in the order "
            "in which they come, and adding floats in another order rounds in other places. Give "
            "each part a place of its own."
        ),
        "other-bits": (
            "The bits hang on the grid: with more blocks each adds up other numbers. What could a "
            "piece of the array be that is the same for every grid?"
        ),
        "pieces-left-out": (
            "With few blocks only the first pieces were added up. There may be more pieces than "
            "blocks."
        ),
        "parts-left-out": (
            "Only as many parts were added up as the block has threads. There may be more."
        ),
    },
    share=Share("Each thread writes at most one cell of out."),
    hints=(
        (
            "Two sums have the same bits if the same numbers meet in the same order. So decide for "
            "each number with which it is added up first, and let only its place decide."
        ),
        (
            "Cut the array into pieces of TPB numbers, whatever the grid is, and give each piece a "
            "part of its own. A block takes one piece after another."
        ),
        (
            "Piece p belongs to the block whose number is p modulo the number of blocks. Within a "
            "piece, shuffles and two halves are a fixed order. Mind the halves: the next piece "
            "fills them again."
        ),
    ),
    mistakes=(
        Mistake("no_barrier", "hazard", "race"),
        Mistake("one_barrier_in_the_loop", "hazard", "race"),
        Mistake("blocks_add_as_they_come", "order-dependent", "order-dependent"),
        Mistake("cut_by_the_grid", "wrong-result", "other-bits"),
        Mistake("one_piece_for_each_block", "wrong-result", "pieces-left-out"),
        Mistake("only_so_many_parts", "wrong-result", "parts-left-out", stands_for="sum_parts"),
        Mistake("in_double", "over-budget", "over-budget"),
        Mistake("one_thread_for_each_piece", "over-budget", "not-shared"),
    ),
    equivalent_mutants={
        "sum_pieces:constant:if t == 1:": "any one thread of the block may write the part",
        "sum_parts:constant:if t == 1:": "any one thread of the block may write the sum",
        "sum_pieces:operands-swapped:halves[WARP // t] = x": (
            "threads 0 and 32 alone come here: Numba has 32 // 0 as 0, and 32 // 32 is 1"
        ),
        "sum_parts:operands-swapped:halves[WARP // t] = x": (
            "threads 0 and 32 alone come here: Numba has 32 // 0 as 0, and 32 // 32 is 1"
        ),
    },
    constants={"TPB": TPB, "WARPS": TPB // WARP, **WARP_CONSTANTS},
    source="James Demmel, Hong Diep Nguyen, Fast Reproducible Floating-Point Summation, ARITH 2013",
)

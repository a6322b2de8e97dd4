"""Puzzle `fix_the_race`: three kernels that race."""

from __future__ import annotations

import math

import numpy as np

from gpu_course.lessons.shared_memory.pieces import TPB, WARPS, by_piece
from gpu_course.puzzle.builders import arrays, blocks_to_cover, drawn_case, sized, special
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Bonus,
    Budget,
    Case,
    KernelPuzzle,
    Launch,
    Share,
    Values,
)


def _race_launches(case: Case) -> tuple[Launch, ...]:
    grid = blocks_to_cover(case.sizes["size"], TPB)
    return (
        Launch("rotate_pieces", grid, TPB, ("rotated", "a", "size")),
        # Fewer blocks than rows, so that a block has to use its tile again.
        Launch("reverse_rows", 2, TPB, ("reversed", "table", "rows", "cols")),
        Launch("add_neighbours", grid, TPB, ("added", "a", "size", "rounds")),
    )


def _race_results(inputs: Values, case: Case) -> Values:
    return {
        "rotated": by_piece(inputs["a"], lambda piece: np.roll(piece, -1)),
        "reversed": inputs["table"][:, ::-1].copy(),
        "added": by_piece(inputs["a"], lambda piece: _added(piece, inputs["rounds"])),
    }


def _added(piece: np.ndarray, rounds: int) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # infinity less infinity
        for _ in range(rounds):
            piece = piece + np.concatenate([np.zeros(1, np.float32), piece[:-1]])
    return piece


def _race_barriers(case: Case) -> int:
    """One wait a row and one a round, where two tiles take turns."""
    blocks = blocks_to_cover(case.sizes["size"], TPB)
    return WARPS * (blocks + case.sizes["rows"] + blocks * (1 + case.sizes["rounds"]))


INFINITY_FIRST = (math.inf, -math.inf, math.nan, 0.0)
"""The first cell has no neighbour to its left: a NaN there would hide what else is added to it."""


FIX_THE_RACE = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=100, rows=5, cols=40, rounds=3),
        sized("one cell", size=1, rows=1, cols=1, rounds=1),
        sized("exactly two blocks", size=128, rows=4, cols=64, rounds=2),
        sized("fewer rows than blocks", size=129, rows=1, cols=33, rounds=0),
        sized("1,003 large numbers", size=1003, rows=9, cols=51, rounds=9, doublings=60),
        special("NaN and infinities", INFINITY_FIRST, size=131, rows=4, cols=41, rounds=3),
    ),
    random_case=drawn_case(size=(65, 500), rows=(3, 12), cols=(33, 65), rounds=(2, 6)),
    inputs=arrays("size", "rows", "cols", "rounds", a="size", table="rows cols"),
    launches=_race_launches,
    reference=_race_results,
    budgets=(
        Budget(
            "global_load.excess_sectors",
            lambda case, counters: counters.global_load.excess_sectors,
            "The tile is there so that global memory is read in order. Mend the waiting, and keep "
            "the tile.",
            fact="global memory is not read in order",
        ),
        Budget(
            "barriers",
            lambda case, counters: counters.barriers,
            "At every barrier all warps of the block wait for the slowest one. Keep those that "
            "stand between a write and a read of one cell by two threads.",
        ),
    ),
    share=Share(
        "Of each row or piece, a thread writes at most one cell.",
        lambda case, output: blocks_to_cover(case.sizes["rows"], 2) if output == "reversed" else 1,
    ),
    bonus=Bonus(
        "barriers",
        _race_barriers,
    ),
)

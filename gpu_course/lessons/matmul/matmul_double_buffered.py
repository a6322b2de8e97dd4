"""Puzzle `matmul_double_buffered`: the next tiles travel while these are used."""

from __future__ import annotations

from gpu_course.lessons.matmul.pieces import (
    ALL_IN_FLOAT32,
    LOADS_IN_ORDER,
    NO_ATOMICS,
    NO_CONFLICTS,
    square_grid,
)
from gpu_course.lessons.matmul.register_tiles import (
    FROM_REGISTERS,
    IN_FOURS,
    K_TILE,
    PADDED,
    TILE,
    register_tiled,
)
from gpu_course.puzzle.specification import Budget, Case, KernelPuzzle

WARPS = 2


TWO_PAIRS_BYTES = 2 * 4 * (TILE + PADDED) * K_TILE


def _rounds(case: Case) -> int:
    """The rounds of all warps together."""
    down, along = square_grid(case, TILE)
    return WARPS * down * along * -(-case.sizes["k"] // K_TILE)


def _one_each_round(case: Case) -> int:
    down, along = square_grid(case, TILE)
    return _rounds(case) + WARPS * down * along


MATMUL_DOUBLE_BUFFERED = KernelPuzzle(
    **register_tiled(__file__),
    budgets=(
        Budget(
            "barriers",
            lambda case, counters: _one_each_round(case),
            "A second barrier in a round keeps a tile from being filled while others use it. With "
            "two pairs, which tile is filled while which one is used?",
            "warps waiting at a barrier",
        ),
        Budget(
            "shared_bytes",
            # A little more leaves room for a padded row or two.
            TWO_PAIRS_BYTES * 17 // 16,
            "The blocks that are on an SM together share its shared memory: the more one takes, "
            "the fewer there are to hide its waiting. One pair is used and one is filled: when "
            "would a third be touched?",
            "bytes of shared memory for a block",
        ),
        Budget(
            "idle_loads",
            # The first tiles have nothing to travel behind. Loads may be spread over the steps of p
            # with those of a step behind its products, so that the last ones come last.
            lambda case, counters: counters.idle_loads + 2 * _rounds(case),
            "Between these loads and the line that puts their numbers into a tile nothing is "
            "multiplied, so the warp waits while they travel. What is asked for before the "
            "products arrives while they are made.",
            "loads that travel while nothing is multiplied",
        ),
        FROM_REGISTERS,
        IN_FOURS,
        LOADS_IN_ORDER,
        *NO_CONFLICTS,
        NO_ATOMICS,
        ALL_IN_FLOAT32,
    ),
)

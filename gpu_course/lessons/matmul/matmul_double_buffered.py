"""Puzzle `matmul_double_buffered`: the next tiles travel while these are used."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.matmul.pieces import (
    ALL_IN_FLOAT32,
    ARGUMENTS,
    LOADS_IN_ORDER,
    NO_ATOMICS,
    NO_CONFLICTS,
    STORES_IN_ORDER,
    TWO_GUARDS,
    large_square,
    product,
    square_grid,
    zeros_that_meet_zeros,
)
from gpu_course.lessons.matmul.register_tiles import (
    BLOCK,
    CASES,
    CONSTANTS,
    EACH_ONCE,
    FROM_REGISTERS,
    K_TILE,
    RACES,
    SHARE,
    TILE,
    inputs,
    random_case,
)
from gpu_course.puzzle.builders import gives, recognise
from gpu_course.puzzle.specification import Budget, Case, Debrief, KernelPuzzle, Launch, Mistake

WARPS = 2


TWO_PAIRS_BYTES = 2 * 4 * 2 * TILE * K_TILE

ZERO_LINES = (
    "a_next[i] = a[row, x] if inside else {}",
    "b_next[i] = b[i, left + t] if inside else {}",
    "a_next[i] = a[row, ahead + x] if inside else {}",
    "b_next[i] = b[ahead + i, left + t] if inside else {}",
)


def _one_behind(a: np.ndarray, b: np.ndarray, k: int) -> np.ndarray:
    """The first tiles twice, the last ones never."""
    steps = [p for start in range(0, k, K_TILE) for p in range(K_TILE) if start + p < k]
    first = list(range(min(k, K_TILE)))
    rounds = -(-k // K_TILE)
    taken = first + steps[: max(rounds - 1, 0) * K_TILE]
    return product(a[:, taken], b[taken])


def _rounds(case: Case) -> int:
    """The rounds of all warps together."""
    down, along = square_grid(case, TILE)
    return WARPS * down * along * -(-case.sizes["k"] // K_TILE)


def _one_each_round(case: Case) -> int:
    down, along = square_grid(case, TILE)
    return _rounds(case) + WARPS * down * along


DEBRIEF = Debrief(
    shows=("barriers", "shared_load.requests", "fma"),
    why=(
        "While one pair of tiles is used, the numbers of the next are on their way to registers, "
        "and then go into the other pair. So nobody can spoil what others still use, and one "
        "barrier in each round is enough."
    ),
    alternative=(
        "Store the next tiles before or after the products: with two pairs both are right. Recent "
        "GPUs copy from global to shared memory without a stop in registers, which is how "
        "libraries keep several tiles on their way."
    ),
)

MATMUL_DOUBLE_BUFFERED = KernelPuzzle(
    name="06_matmul/matmul_double_buffered",
    title="the next tiles travel meanwhile",
    difficulty="hard",
    minutes=25,
    debrief=DEBRIEF,
    statement=(
        "The kernel of matmul_register once more, with two pairs of tiles that are used in turn "
        "and one barrier for each step of K_TILE. Each thread makes 64 cells of the square. Ask "
        "for the numbers of the next tiles before you multiply with these, so that they can travel "
        "meanwhile. NaN and infinities count as in any sum, and 0 times infinity is NaN."
    ),
    parameters={"matmul_double_buffered": ARGUMENTS},
    cases=CASES,
    random_case=random_case,
    inputs=inputs,
    large=large_square,
    launches=lambda case: (
        Launch("matmul_double_buffered", square_grid(case, TILE), BLOCK, ARGUMENTS),
    ),
    reference=gives(lambda a, b: product(a, b)),
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
            # An eighth more leaves room for a padded row or two.
            TWO_PAIRS_BYTES * 9 // 8,
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
        LOADS_IN_ORDER,
        STORES_IN_ORDER,
        *NO_CONFLICTS,
        NO_ATOMICS,
        ALL_IN_FLOAT32,
    ),
    diagnose=recognise(("one-behind", _one_behind)),
    diagnoses={
        **RACES,
        "race": (
            "A tile was filled while others used it, or used before it was full. In one interval "
            "a pair is either filled or used, and the two pairs change places after each round."
        ),
        "uninitialised-read": (
            "The products were made from a pair of tiles that nobody had filled. Which pair did "
            "this round's numbers go into?"
        ),
        "out-of-bounds": TWO_GUARDS,
        "one-behind": (
            "The first tiles were used twice and the last ones never. What is fetched in a round "
            "is for the next one: by how much is its p further on?"
        ),
    },
    share=SHARE,
    hints=(
        (
            "In each round: put what was fetched into one pair of tiles, wait, ask for the next "
            "numbers, multiply. Then the pairs change places. What was fetched last is never used, "
            "and may be zeros."
        ),
        (
            "Keep the number of the pair, 0 or 1, in a variable. Between two barriers a fast warp "
            "may already fill the next pair while a slow one multiplies from this one: that is "
            "allowed, because they are two."
        ),
        (
            "Store a_next and b_next into pair `now`, then the barrier. Load the numbers at start "
            "+ K_TILE into a_next and b_next, guarded as in the stub. The loops of matmul_register "
            "follow, reading from pair `now`. Last, change `now`."
        ),
    ),
    mistakes=(
        Mistake("no_barrier", "hazard", "race"),
        Mistake("one_pair_of_tiles", "hazard", "race"),
        Mistake("the_other_pair", "hazard", "race"),
        Mistake("no_guard_ahead", "hazard", "out-of-bounds"),
        Mistake("fetches_the_same_again", "wrong-result", "one-behind"),
        Mistake("two_barriers", "over-budget", "over-budget"),
        Mistake("three_pairs_of_tiles", "over-budget", "over-budget"),
        Mistake("only_a_in_registers", "over-budget", "over-budget"),
        Mistake("sums_in_float64", "over-budget", "over-budget"),
        Mistake("one_row_of_threads_brings_it_all", "over-budget", "not-shared"),
    ),
    constants=CONSTANTS,
    equivalent_mutants={
        **zeros_that_meet_zeros("matmul_double_buffered", ZERO_LINES),
        "matmul_double_buffered:indices-swapped:sums[j, i] = float32(0)": EACH_ONCE,
        "matmul_double_buffered:constant:now = 1": "The two pairs are alike: either may be first.",
    },
    source=(
        "after NVIDIA, CUTLASS, 'Efficient GEMM in CUDA', "
        "https://github.com/NVIDIA/cutlass/blob/main/media/docs/cpp/efficient_gemm.md"
    ),
)

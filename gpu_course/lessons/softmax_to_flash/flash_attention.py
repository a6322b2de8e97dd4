"""Puzzle `flash_attention`: attention in one pass, no score in global memory."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.softmax_to_flash.flash import (
    ALL_KEYS,
    BANKS,
    PLAINLY,
    REGISTERS,
    ROWS,
    TILE,
    TPB,
    D,
    attention,
    attention_inputs,
    blocks_of,
    everything,
    large,
    loaded,
    queries_and_keys,
    stored,
)
from gpu_course.puzzle.memory_budgets import IN_ORDER, NO_ATOMICS, NO_FLOAT64
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, KernelPuzzle, Launch, Share, Values

EACH = ROWS * D // TPB
ARGUMENTS = ("out", "lse", "q", "k", "v", "n", "m", "scale")


def bytes_of_tiles(case: Case) -> int:
    """Returns what is loaded: each query once, and each key and value once for each block."""
    return 4 * D * (case.sizes["n"] + 2 * case.sizes["m"] * blocks_of(case))


def _drawn(rng: np.random.Generator) -> Case:
    n, m = (int(number) for number in rng.integers(33, (70, 100)))
    return queries_and_keys("sizes drawn at random", n, m)


def _right(inputs: Values, case: Case) -> Values:
    n, m = case.sizes["n"], case.sizes["m"]
    return attention(inputs["q"], inputs["k"], inputs["v"], everything(n, m))


def _naive(inputs: Values, case: Case) -> tuple[Values, ...]:
    seen = everything(case.sizes["n"], case.sizes["m"])
    return tuple(way.attention(inputs["q"], inputs["k"], inputs["v"], seen) for way in PLAINLY)


FLASH_ATTENTION = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        queries_and_keys("visible example", visible=True, n=40, m=70),
        queries_and_keys("one query and one key", n=1, m=1),
        queries_and_keys("exactly one tile", n=ROWS, m=TILE),
        queries_and_keys("more queries than keys", n=65, m=5),
        queries_and_keys("one query and many keys", n=1, m=129),
        queries_and_keys("no key", n=3, m=0),
        queries_and_keys("large scores", n=32, m=67, louder=3),
        queries_and_keys("scores far below 0", n=9, m=37, below=1),
        queries_and_keys("equal keys", n=7, m=40, equal=1),
        queries_and_keys("NaN and infinities", n=19, m=45, nan=1, infinite=1),
        queries_and_keys("no score but infinities", n=9, m=21, infinite=ALL_KEYS),
    ),
    random_case=_drawn,
    inputs=attention_inputs,
    large=large,
    launches=lambda case: (Launch("flash_attention", blocks_of(case), TPB, ARGUMENTS),),
    reference=_right,
    naive=_naive,
    budgets=(
        loaded(
            bytes_of_tiles,
            "What one warp has brought into a tile serves all queries of the block. Which number "
            "is read from global memory more than once by one block?",
        ),
        stored(
            lambda case: 4 * case.sizes["n"] * (D + 1),
            "Only out and lse are written, each cell once, when all keys have been seen.",
        ),
        BANKS,
        NO_ATOMICS,
        *IN_ORDER,
        NO_FLOAT64,
        REGISTERS,
    ),
    share=Share("Each thread writes at most EACH cells of out and of lse.", EACH),
)

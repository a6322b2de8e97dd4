"""Puzzle `flash_attention_causal`: no query sees what comes after it, no hidden tile is read."""

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
    bottom_right,
    large,
    loaded,
    queries_and_keys,
    stored,
)
from gpu_course.puzzle.builders import blocks_to_cover
from gpu_course.puzzle.memory_budgets import IN_ORDER, NO_ATOMICS, NO_FLOAT64
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, KernelPuzzle, Launch, Share, Values

EACH = ROWS * D // TPB
ARGUMENTS = ("out", "lse", "q", "k", "v", "n", "m", "scale")


def keys_read(n: int, m: int) -> int:
    """Returns how many keys the blocks read together: whole tiles, up to the last that is seen.

    >>> keys_read(64, 64), keys_read(64, 128), keys_read(64, 16)
    (96, 224, 16)
    """
    found = 0
    for first in range(0, n, ROWS):
        seen = max(0, min(n, first + ROWS) + m - n)
        found += min(m, blocks_to_cover(seen, TILE) * TILE)
    return found


def bytes_of_tiles(case: Case) -> int:
    """Returns what is loaded: each query once, and the keys and values of the tiles that count."""
    n, m = case.sizes["n"], case.sizes["m"]
    return 4 * D * (n + 2 * keys_read(n, m))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    """`hidden`: the last key has a NaN, and only the last query sees it."""
    values = attention_inputs(rng, case)
    if case.sizes.get("hidden"):
        values["k"][-1, 4] = np.nan
    return values


def _drawn(rng: np.random.Generator) -> Case:
    n, m = (int(number) for number in rng.integers(33, 100, 2))
    return queries_and_keys("sizes drawn at random", n, m)


def _right(inputs: Values, case: Case) -> Values:
    seen = bottom_right(case.sizes["n"], case.sizes["m"])
    return attention(inputs["q"], inputs["k"], inputs["v"], seen)


def _naive(inputs: Values, case: Case) -> tuple[Values, ...]:
    seen = bottom_right(case.sizes["n"], case.sizes["m"])
    return tuple(way.attention(inputs["q"], inputs["k"], inputs["v"], seen) for way in PLAINLY)


FLASH_ATTENTION_CAUSAL = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        queries_and_keys("visible example", visible=True, n=40, m=70),
        queries_and_keys("one query and one key", n=1, m=1),
        queries_and_keys("as many keys as queries", n=2 * ROWS, m=2 * TILE),
        queries_and_keys("queries without a key", n=70, m=37),
        queries_and_keys("the last query alone", n=1, m=65),
        queries_and_keys("a single key", n=33, m=1),
        queries_and_keys("no key", n=3, m=0),
        queries_and_keys("large scores", n=32, m=50, louder=3),
        queries_and_keys("scores far below 0", n=9, m=11, below=1),
        queries_and_keys("equal keys", n=7, m=40, equal=1),
        queries_and_keys("NaN and infinities", n=19, m=45, nan=1, infinite=1),
        queries_and_keys("no score but infinities", n=9, m=21, infinite=ALL_KEYS),
        queries_and_keys("a NaN that one query sees", n=11, m=13, nan=1, hidden=1),
    ),
    random_case=_drawn,
    inputs=_inputs,
    large=large,
    launches=lambda case: (Launch("flash_attention_causal", blocks_of(case), TPB, ARGUMENTS),),
    reference=_right,
    naive=_naive,
    budgets=(
        loaded(
            bytes_of_tiles,
            "A tile of keys that lies behind the block's last query is hidden from all of them. "
            "Which key is the last that any query of the block sees?",
        ),
        stored(
            lambda case: 4 * case.sizes["n"] * (D + 1),
            "Only out and lse are written, each cell once, when the last key has been seen.",
        ),
        BANKS,
        NO_ATOMICS,
        *IN_ORDER,
        NO_FLOAT64,
        REGISTERS,
    ),
    share=Share("Each thread writes at most EACH cells of out and of lse.", EACH),
)

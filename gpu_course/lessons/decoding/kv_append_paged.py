"""Puzzle `kv_append_paged`: a token's keys and values into their page."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.decoding.numbers import lengths, within
from gpu_course.lessons.decoding.paged import PAGE, shuffled_table
from gpu_course.puzzle.builders import blocks_to_cover, gives, sized, special
from gpu_course.puzzle.memory_budgets import IN_ORDER, NO_FLOAT64, bytes_loaded, bytes_stored
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, KernelPuzzle, Launch, Share, Values

TPB = 64
ARGUMENTS = ("k_cache", "v_cache", "k", "v", "page_table", "length", "kv_heads", "d")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    kv_heads, d = case.sizes["kv_heads"], case.sizes["d"]
    length = lengths(rng, case)
    page_table, pages = shuffled_table(rng, length.tolist())
    new = (len(length), kv_heads, d)
    cache = (pages, PAGE, kv_heads, d)
    return {
        "k_cache": within(rng, 4, cache),
        "v_cache": within(rng, 4, cache),
        "k": within(rng, 5, new, case),
        "v": within(rng, 5, new, case),
        "page_table": page_table,
        "length": length,
        "kv_heads": kv_heads,
        "d": d,
    }


def _appended(inputs: Values) -> Values:
    token = inputs["length"] - 1
    every = np.arange(len(token))
    page = inputs["page_table"][every, token // PAGE]
    found = {}
    for cache, new in (("k_cache", "k"), ("v_cache", "v")):
        found[cache] = inputs[cache].copy()
        found[cache][page, token % PAGE] = inputs[new]
    return found


def _launches(case: Case) -> tuple[Launch, ...]:
    s = case.sizes
    grid = s["sequences"], blocks_to_cover(s["kv_heads"] * s["d"], TPB)
    return (Launch("kv_append_paged", grid, TPB, ARGUMENTS),)


def _large(least_bytes: int) -> Case:
    kv_heads, d = 8, 128
    sequences = blocks_to_cover(least_bytes, 2 * 4 * kv_heads * d * PAGE)
    return sized("past L2", sequences=sequences, longest=PAGE, kv_heads=kv_heads, d=d, even=1)


KV_APPEND_PAGED = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, sequences=3, longest=20, kv_heads=2, d=8),
        sized("one sequence of one token", sequences=1, longest=1, kv_heads=1, d=1),
        sized("pages just full", sequences=2, longest=PAGE, kv_heads=2, d=8, even=1),
        sized("pages just begun", sequences=2, longest=PAGE + 1, kv_heads=2, d=8, even=1),
        sized("a token of a small model", sequences=1, longest=75, kv_heads=2, d=32),
        sized("one number more than a block", sequences=3, longest=30, kv_heads=5, d=13),
        sized("many lengths", sequences=7, longest=90, kv_heads=1, d=4),
        special("NaN and infinities", sequences=4, longest=33, kv_heads=3, d=16),
    ),
    random_case=lambda rng: sized(
        "sizes drawn at random",
        sequences=int(rng.integers(2, 6)),
        longest=int(rng.integers(20, 70)),
        kv_heads=int(rng.integers(2, 5)),
        d=4 * int(rng.integers(1, 9)),
    ),
    inputs=_inputs,
    large=_large,
    launches=_launches,
    reference=gives(lambda inputs: _appended(inputs)),
    budgets=(
        bytes_loaded("Each number of k and v is read once, and nothing of what the cache holds."),
        bytes_stored(
            "A token is 2 * d numbers for each KV head. Nothing else in its page has changed, so "
            "nothing else needs to be written."
        ),
        *IN_ORDER,
        NO_FLOAT64,
    ),
    share=Share("Each thread writes at most one cell of each cache."),
)

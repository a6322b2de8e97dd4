"""Puzzle `decode_attention_gqa`: a page read once for all its query heads."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.decoding.numbers import lengths, within
from gpu_course.lessons.decoding.paged import PAGE, shuffled_table
from gpu_course.puzzle.builders import blocks_to_cover, gives, sized, with_special_numbers
from gpu_course.puzzle.memory_budgets import IN_ORDER, NO_ATOMICS, NO_FLOAT64, bytes_stored
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, Case, KernelPuzzle, Launch, Share, Values
from simt.report import Counters

D = 32
SPLIT = 4
ARGUMENTS = ("out", "q", "k_cache", "v_cache", "page_table", "length", "scale", "group")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    s = case.sizes
    length = lengths(rng, case)
    page_table, pages = shuffled_table(rng, length.tolist())
    cache = (pages, PAGE, s["kv_heads"], D)
    heads = s["kv_heads"] * s["group"]
    q = within(rng, 120 if s.get("steep") else 2, (s["sequences"], heads, D))
    k_cache, v_cache = within(rng, 2, cache), within(rng, 2, cache)
    if s.get("below"):
        q, k_cache = np.abs(q), -np.abs(k_cache)
    kept = np.zeros((pages, PAGE), bool)
    for row, tokens in zip(page_table, length, strict=True):
        t = np.arange(tokens)
        kept[row[t // PAGE], t % PAGE] = True
    k_cache[~kept] = np.nan
    v_cache[~kept] = np.nan
    return {
        "q": q,
        "k_cache": k_cache,
        "v_cache": v_cache,
        "page_table": page_table,
        "length": length,
        "scale": np.float32(D**-0.5),
        "group": s["group"],
    }


def _last(values: Values, sequence: int) -> tuple[int, int]:
    """Page and slot of a sequence's newest token."""
    token = int(values["length"][sequence]) - 1
    return int(values["page_table"][sequence, token // PAGE]), token % PAGE


def _nan(values: Values) -> None:
    """NaN in a key, in a value and in a query, of three sequences."""
    page, slot = _last(values, 0)
    values["k_cache"][page, slot, 0, 3] = np.nan
    page, slot = _last(values, 1)
    values["v_cache"][page, slot, 0, 5] = np.nan
    values["q"][2, 1, 7] = np.nan


def _infinite(values: Values) -> None:
    """A score of -infinity for the one query head and of infinity for the other, and a value."""
    page, slot = _last(values, 0)
    values["k_cache"][page, slot, 0, 3] = np.inf
    values["q"][0, :2, 3] = -1, 1
    page, slot = _last(values, 1)
    values["v_cache"][page, slot, 1, 31] = -np.inf
    # Of the first tile, in a row that the last one does not fill anew.
    page = values["page_table"][0, 1]
    values["v_cache"][page, 30 % PAGE, 1, 9] = np.inf
    # Nothing but -infinity: the whole of the third sequence.
    values["q"][2, 0, 0] = -np.inf
    for t in range(int(values["length"][2])):
        page = values["page_table"][2, t // PAGE]
        values["k_cache"][page, t % PAGE, 0, 0] = 1 + t % 3


def _attended(inputs: Values) -> np.ndarray:
    q, group = inputs["q"].astype(np.float64), inputs["group"]
    out = np.zeros(q.shape)
    for sequence, tokens in enumerate(inputs["length"]):
        t = np.arange(tokens)
        page = inputs["page_table"][sequence, t // PAGE]
        keys = inputs["k_cache"][page, t % PAGE].astype(np.float64).repeat(group, axis=1)
        values = inputs["v_cache"][page, t % PAGE].astype(np.float64).repeat(group, axis=1)
        score = (q[sequence] * keys).sum(axis=2) * float(inputs["scale"])
        weight = np.exp(score - score.max(axis=0))
        out[sequence] = (weight[..., None] * values).sum(axis=0) / weight.sum(axis=0)[:, None]
    return np.asarray(out, np.float32)


def _launches(case: Case) -> tuple[Launch, ...]:
    grid = case.sizes["sequences"], case.sizes["kv_heads"]
    threads = 32 * case.sizes["group"] * SPLIT
    return (Launch("decode_attention_gqa", grid, threads, ARGUMENTS),)


def _pages_once(case: Case, counters: Counters) -> int:
    """A quarter more than the solution reads: queries and page numbers may come more often."""
    return counters.global_load.bytes + counters.global_load.bytes // 4


def _large(least_bytes: int) -> Case:
    longest, kv_heads = 64 * PAGE, 8
    sequences = blocks_to_cover(least_bytes, 2 * 4 * kv_heads * D * longest)
    return sized(
        "past L2", sequences=sequences, longest=longest, kv_heads=kv_heads, group=4, even=1
    )


DECODE_ATTENTION_GQA = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, sequences=2, longest=20, kv_heads=2, group=2),
        sized("one sequence of one token", sequences=1, longest=1, kv_heads=1, group=1),
        sized("a page just full", sequences=1, longest=PAGE, kv_heads=2, group=3, even=1),
        sized("a page just begun", sequences=1, longest=2 * PAGE + 1, kv_heads=2, group=2, even=1),
        sized("many lengths", sequences=4, longest=70, kv_heads=2, group=2),
        sized("a KV head for each query head", sequences=2, longest=37, kv_heads=3, group=1),
        sized("one KV head for eight", sequences=2, longest=19, kv_heads=1, group=8),
        sized("large scores", sequences=2, longest=45, kv_heads=1, group=2, steep=1),
        sized(
            "scores far below zero",
            sequences=1,
            longest=35,
            kv_heads=1,
            group=1,
            steep=1,
            below=1,
        ),
        sized("NaN", sequences=4, longest=24, kv_heads=2, group=2, nan=1),
        sized("infinities", sequences=3, longest=40, kv_heads=2, group=2, infinite=1),
    ),
    random_case=lambda rng: sized(
        "sizes drawn at random",
        sequences=int(rng.integers(2, 4)),
        longest=int(rng.integers(20, 60)),
        kv_heads=2,
        group=int(rng.integers(2, 5)),
    ),
    inputs=with_special_numbers(_inputs, nan=_nan, infinite=_infinite),
    large=_large,
    launches=_launches,
    reference=gives(lambda inputs: _attended(inputs)),
    tolerance=(1e-4, 1e-5),
    budgets=(
        Budget(
            "global_load.bytes",
            _pages_once,
            "Each key and each value has to come from memory once for its KV head. The query heads "
            "that share it are warps of one block: what one of them loads into a tile, all can "
            "read.",
            "bytes loaded",
        ),
        bytes_stored("Each cell of out is written once."),
        Budget(
            "barriers",
            lambda case, counters: 3 * counters.barriers,
            "At a barrier all warps of the block wait for the slowest. A tile of 32 tokens needs "
            "two: when it is full, and when it has been used.",
            "barriers, counted warp by warp",
        ),
        NO_ATOMICS,
        *IN_ORDER,
        NO_FLOAT64,
    ),
    share=Share("Each thread writes at most one cell."),
)

"""Puzzle `attention_naive`: attention as it is written first, score by score."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.softmax_to_flash.rows import shares
from gpu_course.puzzle.builders import blocks_to_cover, eighths, gives, sized
from gpu_course.puzzle.memory_budgets import (
    IN_ORDER,
    IN_REGISTERS,
    NO_ATOMICS,
    NO_FLOAT64,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, Case, KernelPuzzle, Launch, Share, Values

D = 32
TPB = 128
WARPS = 4


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    n, m = case.sizes["n"], case.sizes["m"]
    q, k, v = (eighths(rng, (rows, D), case) for rows in (n, m, m))
    if case.sizes.get("infinite"):  # of all queries, the first keys, or all of them
        q[:, 0] = np.abs(q[:, 0])
        k[: case.sizes["infinite"], 0] = -np.inf
    if case.sizes.get("peaks"):  # keys far above the others, one in each 32
        k[3], k[40] = 16 * np.sign(q[0]), 16 * np.sign(q[1])
    if case.sizes.get("nan"):
        q[0, 3] = np.nan
        q[1], q[1, 0] = 2.0**-6 * np.arange(1, D + 1), np.inf
        q[2, 5], q[3, 5] = -0.25, 0.25  # of the last key one shuts out, the other overflows
        k[m - 1, 5] = np.inf
        v[m - 1, 7], v[0, 9] = np.inf, np.nan
    scale = np.float32(1 if case.sizes.get("one") else D**-0.5)
    return {"q": q, "k": k, "v": v, "n": n, "m": m, "scale": scale}


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: np.float32) -> np.ndarray:
    """Returns softmax(scale * q @ k.T) @ v in float64, product by product.

    A library's matrix product may leave out what it takes for 0, and NaN with it.
    """
    wide_q, wide_k, wide_v = (each.astype(np.float64) for each in (q, k, v))
    s = float(scale) * (wide_q[:, None, :] * wide_k[None, :, :]).sum(axis=2)
    return np.asarray((shares(s)[:, :, None] * wide_v[None, :, :]).sum(axis=1))


def _launch(function: str, case: Case, *args: str) -> Launch:
    return Launch(function, blocks_to_cover(case.sizes["n"], WARPS), TPB, args)


def _most_loaded(case: Case) -> int:
    """Queries once, keys and values once for each query, a number of s three times and once.

    Where lanes share one number, each 32 of them may load it.
    """
    n, m = case.sizes["n"], case.sizes["m"]
    tiles = blocks_to_cover(m, 32)
    return 4 * n * (D * tiles + 2 * m * D + 4 * m + 2 * m)


ATTENTION_NAIVE = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, n=6, m=40, doublings=-6),
        sized("one query, one key", n=1, m=1),
        sized("one query", n=1, m=17, doublings=-6),
        sized("one key", n=5, m=1, doublings=-6),
        sized("as many as lanes, another scale", n=4, m=32, doublings=-7, one=1),
        sized("more keys than queries", n=3, m=67, doublings=-3, one=1, peaks=1),
        sized("large scores", n=9, m=23, doublings=-3, one=1),
        sized("keys shut out", n=6, m=35, doublings=-6, infinite=33),
        sized("no key left", n=2, m=3, infinite=3),
        sized("NaN and infinities", n=7, m=30, doublings=-6, nan=1),
    ),
    random_case=lambda rng: sized(
        "sizes drawn at random",
        n=int(rng.integers(2, 10)),
        m=int(rng.integers(30, 64)),
        doublings=-7,
    ),
    inputs=_inputs,
    large=lambda least_bytes: sized("past L2", n=least_bytes // (4 * 4096), m=4096, doublings=-6),
    launches=lambda case: (
        _launch("scores", case, "s", "q", "k", "n", "m", "scale"),
        _launch("weights", case, "s", "n", "m"),
        _launch("weighted_sum", case, "out", "s", "v", "n", "m"),
    ),
    scratch=lambda inputs, case: {"s": np.zeros((inputs["n"], inputs["m"]), np.float32)},
    reference=gives(lambda q, k, v, scale: attention(q, k, v, scale).astype(np.float32)),
    tolerance=(5e-5, 1e-5),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: _most_loaded(case),
            "The keys and the values are read once for each query, and the query itself once. What "
            "one lane has found of a row of s, the others can have from it without memory.",
            "bytes loaded",
        ),
        Budget(
            "global_store.bytes",
            lambda case, counters: 4 * case.sizes["n"] * (2 * case.sizes["m"] + D),
            "A row of s is written with its scores, and once more with their softmax: what is "
            "written there first should be final, or wait until the sum is known.",
            "bytes stored",
        ),
        NO_ATOMICS,
        IN_REGISTERS,
        *IN_ORDER,
        NO_FLOAT64,
    ),
    share=Share("Each thread writes at most one cell of out."),
)

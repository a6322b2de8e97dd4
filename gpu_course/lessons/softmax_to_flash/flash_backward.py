"""Puzzle `flash_backward`: dq, dk and dv, the weights computed anew from lse, no atomics."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.softmax_to_flash.flash import (
    BANKS,
    PLAINLY,
    REGISTERS,
    ROWS,
    SCALE,
    TILE,
    TPB,
    D,
    Plainly,
    attention,
    attention_inputs,
    everything,
    exp,
    large,
    loaded,
    many_bits,
    queries_and_keys,
    stored,
)
from gpu_course.puzzle.builders import blocks_to_cover
from gpu_course.puzzle.memory_budgets import IN_ORDER, NO_ATOMICS, NO_FLOAT64
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, KernelPuzzle, Launch, Share, Values

EACH = ROWS * D // TPB
WARPS = TPB // 32
OF_QUERIES = ("dq", "delta", "dout", "out", "q", "k", "v", "lse", "n", "m", "scale")
OF_KEYS = ("dk", "dv", "dout", "q", "k", "v", "lse", "delta", "n", "m", "scale")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    """`zero`: every third query from the second on has seen no key, and its out is 0."""
    values = attention_inputs(rng, case)
    n, m = case.sizes["n"], case.sizes["m"]
    forward = attention(values["q"], values["k"], values["v"], everything(n, m))
    if case.sizes.get("zero"):
        forward["out"][1::3], forward["lse"][1::3] = 0, -np.inf
    return {**values, **forward, "dout": many_bits(rng, n)}


def _right(inputs: Values, case: Case) -> Values:
    q, k, v, dout, out, lse = (
        inputs[name].astype(np.float64) for name in ("q", "k", "v", "dout", "out", "lse")
    )
    seen = ~np.isneginf(lse)
    p = np.exp(q @ k.T * float(SCALE) - np.where(seen, lse, np.inf)[:, None])
    delta = (dout * out).sum(axis=1)
    ds = p * (dout @ v.T - delta[:, None])
    found = {
        "dq": ds @ k * float(SCALE),
        "delta": delta,
        "dk": ds.T @ q * float(SCALE),
        "dv": p.T @ dout,
    }
    return {name: value.astype(np.float32) for name, value in found.items()}


def _plainly(way: Plainly, delta: np.ndarray, inputs: Values) -> Values:
    """The gradients in float32.

    Where a query has one key, delta and what it is taken from are the same, and all that is left is
    what rounding makes of two orders.
    """
    q, k, v, dout, lse = (inputs[name] for name in ("q", "k", "v", "dout", "lse"))
    seen = ~np.isneginf(lse)
    p = exp(way.scores(q, k) - np.where(seen, lse, np.float32(np.inf))[:, None])
    ds = p * (way.dots(dout, v) - delta[:, None])
    return {
        "dq": way.weighted(ds, k) * SCALE,
        "delta": delta,
        "dk": way.weighted(ds.T, q) * SCALE,
        "dv": way.weighted(p.T, dout),
    }


def _naive(inputs: Values, case: Case) -> tuple[Values, ...]:
    """Every way, with delta added up from either end, by halves and by strides."""
    terms = inputs["dout"] * inputs["out"]
    deltas = (
        _by_halves(terms),
        np.add.accumulate(terms, axis=1)[:, -1],
        np.add.accumulate(terms[:, ::-1], axis=1)[:, -1],
        _by_halves(np.add.accumulate(terms.reshape(-1, 8, D // 8), axis=1)[:, -1]),
    )
    return tuple(_plainly(way, delta, inputs) for way in PLAINLY for delta in deltas)


def _by_halves(terms: np.ndarray) -> np.ndarray:
    """Returns the sum of each row, as shuffles add it up."""
    while terms.shape[1] > 1:
        half = terms.shape[1] // 2
        terms = terms[:, :half] + terms[:, half:]
    return terms[:, 0]


def _launches(case: Case) -> tuple[Launch, ...]:
    n, m = case.sizes["n"], case.sizes["m"]
    return (
        Launch("flash_backward_dq", blocks_to_cover(n, ROWS), TPB, OF_QUERIES),
        Launch("flash_backward_dkv", blocks_to_cover(m, ROWS), TPB, OF_KEYS),
    )


def bytes_of_tiles(case: Case) -> int:
    """Returns what both kernels load: their own rows once, and the others' once for each block.

    Each warp of the second kernel may read lse and delta for itself.
    """
    n, m = case.sizes["n"], case.sizes["m"]
    of_queries = D * (3 * n + 2 * m * blocks_to_cover(n, ROWS)) + n
    of_keys = 2 * D * m + 2 * n * (D + WARPS) * blocks_to_cover(m, ROWS)
    return 4 * (of_queries + of_keys)


def _drawn(rng: np.random.Generator) -> Case:
    n, m = (int(number) for number in rng.integers(33, 64, 2))
    return queries_and_keys("sizes drawn at random", n, m)


FLASH_BACKWARD = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        queries_and_keys("visible example", visible=True, n=40, m=37),
        queries_and_keys("one query and one key", n=1, m=1),
        queries_and_keys("exactly one tile", n=ROWS, m=TILE),
        queries_and_keys("more queries than keys", n=65, m=5),
        queries_and_keys("more keys than queries", n=3, m=66),
        queries_and_keys("large scores", n=32, m=33, louder=3),
        queries_and_keys("scores far below 0", n=9, m=11, below=1),
        queries_and_keys("equal keys", n=7, m=12, equal=1),
        queries_and_keys("queries that saw no key", n=35, m=20, zero=1),
    ),
    random_case=_drawn,
    inputs=_inputs,
    large=large,
    launches=_launches,
    reference=_right,
    naive=_naive,
    budgets=(
        loaded(
            bytes_of_tiles,
            "Two arrays go by in tiles, and what a block owns it reads once. Which number is read "
            "from global memory more than once by one block?",
        ),
        stored(
            lambda case: 4 * (case.sizes["n"] * (D + 1) + 2 * D * case.sizes["m"]),
            "Each gradient is written once, when its sum is complete; so is delta.",
        ),
        BANKS,
        NO_ATOMICS,
        *IN_ORDER,
        NO_FLOAT64,
        REGISTERS,
    ),
    share=Share("Each thread writes at most EACH cells of each array.", EACH),
)

"""Puzzle `flash_decode`: one query, its keys split over blocks and merged by log-sum-exp."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpu_course.lessons.softmax_to_flash.flash import (
    BANKS,
    PLAINLY,
    REGISTERS,
    TILE,
    D,
    attention,
    attention_inputs,
    everything,
    loaded,
    queries_and_keys,
    stored,
)
from gpu_course.puzzle.builders import blocks_to_cover
from gpu_course.puzzle.memory_budgets import IN_ORDER, NO_ATOMICS, NO_FLOAT64
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, KernelPuzzle, Launch, Share, Values

WARPS = 4
EACH = WARPS * TILE
LONG = 8 * EACH
PARTS = ("part_out", "part_lse", "q", "k", "v", "m", "chunk", "scale")
WHOLE = ("out", "lse", "part_out", "part_lse", "splits")


def _case(name: str, m: int, splits: int, chunk: int = EACH, **more: int) -> Case:
    """One query, and so many keys for `splits` blocks of `chunk`."""
    return queries_and_keys(
        name, 1, m, splits=splits, chunk=chunk, visible=name == "visible example", **more
    )


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    """`nan`: in a key of the last split that has any."""
    m = case.sizes["m"]
    sizes = {name: size for name, size in case.sizes.items() if name not in ("nan", "infinite")}
    values = attention_inputs(rng, Case(case.name, sizes))
    q = values.pop("q")[0]
    q[5] = np.abs(q[5])
    if case.sizes.get("infinite"):  # all of the first split, and some of another
        values["k"][: case.sizes["chunk"], 5] = -np.inf
        values["k"][m - 2, 5] = -np.inf
    if case.sizes.get("nan"):
        values["k"][m - 1, 3] = np.nan
    if case.sizes.get("below"):
        q[2] = -2
    del values["n"]
    return {**values, "q": q, "chunk": case.sizes["chunk"], "splits": case.sizes["splits"]}


def _large(least_bytes: int) -> Case:
    splits = blocks_to_cover(least_bytes, 8 * D * LONG)
    return _case("past L2", splits * LONG, splits, LONG)


def _in_parts(inputs: Values, way: Callable[..., Values]) -> Values:
    """Attention of each split alone, and of all keys."""
    q, k, v, chunk = inputs["q"][None], inputs["k"], inputs["v"], inputs["chunk"]
    whole = way(q, k, v, everything(1, len(k)))
    parts = []
    for split in range(inputs["splits"]):
        keys = slice(split * chunk, (split + 1) * chunk)
        parts.append(way(q, k[keys], v[keys], everything(1, len(k[keys]))))
    return {
        "part_out": np.concatenate([part["out"] for part in parts]),
        "part_lse": np.concatenate([part["lse"] for part in parts]),
        "out": whole["out"][0],
        "lse": whole["lse"],
    }


def _drawn(rng: np.random.Generator) -> Case:
    chunk = EACH * int(rng.integers(1, 3))
    splits = int(rng.integers(2, 5))
    m = int(rng.integers((splits - 2) * chunk + 1, splits * chunk))
    return _case("sizes drawn at random", m, splits, chunk)


def _loaded(case: Case) -> int:
    """Keys and values once, the query once for each warp, and what the blocks found once."""
    m, splits = case.sizes["m"], case.sizes["splits"]
    return 4 * (D * (2 * m + splits * WARPS) + splits * (D + 2))


FLASH_DECODE = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", 300, 3),
        _case("one key", 1, 1),
        _case("a tile for one warp", TILE, 1),
        _case("one split of many tiles", 300, 1, 3 * EACH),
        _case("exactly full splits", 2 * EACH, 2),
        _case("splits without a key", 130, 4),
        _case("no key", 0, 2),
        _case("more splits than lanes", 41 * EACH - 5, 41),
        _case("large scores", 250, 2, louder=3),
        _case("scores far below 0", 150, 2, below=1),
        _case("equal keys", 140, 2, equal=1),
        _case("a split of minus infinities", 200, 2, infinite=1),
        _case("a NaN in the last split", 200, 2, nan=1),
    ),
    random_case=_drawn,
    inputs=_inputs,
    large=_large,
    launches=lambda case: (
        Launch("flash_decode", case.sizes["splits"], EACH, PARTS),
        Launch("flash_decode_merge", 1, D, WHOLE),
    ),
    reference=lambda inputs, case: _in_parts(inputs, attention),
    naive=lambda inputs, case: tuple(_in_parts(inputs, way.attention) for way in PLAINLY),
    budgets=(
        loaded(
            _loaded,
            "Each key and each value serves one query, so it is read once: there is nothing to "
            "reuse. The merge reads what each split has found once.",
            spare=None,  # no warp has a number to look up, and one query is small
        ),
        stored(
            lambda case: 4 * (D + 1) * (case.sizes["splits"] + 1),
            "Of each split D + 1 numbers are written, and as many of the whole.",
        ),
        BANKS,
        NO_ATOMICS,
        *IN_ORDER,
        NO_FLOAT64,
        REGISTERS,
    ),
    share=Share("Each thread writes at most one cell of each array.", 1),
)

"""Puzzle `quantise_fp8_tiles`: eight bits for each number, and a scale for each tile."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.number_formats.formats import E4M3, codes, rounded
from gpu_course.puzzle.builders import blocks_to_cover, gives, sized
from gpu_course.puzzle.memory_budgets import (
    IN_ORDER,
    NO_ATOMICS,
    NO_FLOAT64,
    bytes_loaded,
    bytes_stored,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, KernelPuzzle, Launch, Share, Values

TPB = 128
TILE = 128
KEPT = 4
FLOOR = np.float32(1e-4)
NAN = 0x7F
_PARTS = 1 << 17
"""A tile reaches from one unit to seven times so many: over the whole range of the format."""


def tiles_of(cols: int) -> int:
    """Returns how many tiles a row has; the last one may be shorter."""
    return blocks_to_cover(cols, TILE)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    rows, cols, special = (case.sizes.get(name, 0) for name in ("rows", "cols", "nan"))
    tiles = tiles_of(cols)
    # Numbers of all sizes, so that every exponent of the format comes up.
    units = 2.0 ** rng.uniform(0, np.log2(7 * _PARTS), (rows, cols))
    a = np.rint(units) * rng.choice([-1.0, 1.0], (rows, cols))
    for row in range(rows):
        for tile in range(tiles):
            # 448 times a power of two is a scale without rounding: there ties are ties.
            power = int(rng.integers(4, 17)) if tile % 2 else 4
            part = slice(tile * TILE, min((tile + 1) * TILE, cols))
            own = a[row, part]
            own[rng.integers(own.size)] = rng.choice([-1, 1]) * 7 * _PARTS
            if tile % 2:
                power, own[:] = power - 1, np.where(np.abs(own) == 7 * _PARTS, own * 1.3125, own)
            if tile % 2 == 0:
                # Of the largest numbers, ties and what a float32 has next to them.
                high = (np.abs(own) >= 1 << 19) & (np.abs(own) < 6 << 17)
                ties = np.rint(own / (1 << 15)) * (1 << 15)
                own = np.where(high, ties + rng.choice([-1, 0, 1], own.size) / 16, own)
            a[row, part] = own * 2.0**power
    a = (a / 8 * 2.0 ** case.sizes.get("doublings", 0)).astype(np.float32)
    if case.sizes.get("zero"):
        a[0, :TILE] = 0
        a[0, 1:TILE:3] = -0.0
        a[-1, ::7] = -0.0
    if special:
        places = rng.permutation(cols)[:6]
        a[0, places] = [np.nan, np.inf, -np.inf, -np.nan, np.nan, np.inf]
        a[-1, -TILE:] = np.inf
        a[-1, -1] = np.nan
    return {"a": a, "rows": rows, "cols": cols, "tiles": tiles}


def quantised(a: np.ndarray, tiles: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the codes of a in E4M3, and the scale of each tile.

    Args:
        a: float32 (rows, cols).
        tiles: in each row.

    Returns:
        uint8 (rows, cols) and float32 (rows, tiles).
    """
    rows, cols = a.shape
    padded = np.zeros((rows, tiles * TILE), np.float32)
    padded[:, :cols] = a
    sizes = np.abs(padded)
    sizes[~np.isfinite(sizes)] = 0
    largest = sizes.reshape(rows, tiles, TILE).max(axis=2)
    scale = np.maximum(largest, FLOOR) / np.float32(E4M3.largest)
    small = a / np.repeat(scale, TILE, axis=1)[:, :cols]
    nan = np.isnan(small)
    q = codes(rounded(np.where(nan, 0, small), E4M3, saturate=True), E4M3)
    return np.where(nan, NAN, q).astype(np.uint8), scale.astype(np.float32)


def _results(a: np.ndarray, tiles: int) -> Values:
    q, scale = quantised(a, tiles)
    return {"q": q, "scale": scale}


def _launches(case: Case) -> tuple[Launch, ...]:
    tiles = case.sizes["rows"] * tiles_of(case.sizes["cols"])
    args = ("q", "scale", "a", "rows", "cols", "tiles")
    return (Launch("quantise_fp8_tiles", blocks_to_cover(tiles, TPB // 32), TPB, args),)


QUANTISE_FP8_TILES = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=3, cols=200, doublings=-24),
        sized("one cell", rows=1, cols=1),
        sized("exactly one tile", rows=1, cols=TILE, doublings=-36),
        sized("whole tiles", rows=2, cols=2 * TILE, doublings=-6),
        sized("one column more than a tile", rows=5, cols=TILE + 1, doublings=-28),
        sized("zeros and a tile of them", rows=3, cols=300, doublings=-36, zero=1),
        sized("NaN and infinities", rows=2, cols=270, doublings=-22, nan=1),
    ),
    random_case=lambda rng: sized(
        "sizes drawn at random",
        rows=int(rng.integers(2, 5)),
        cols=int(rng.integers(130, 400)),
        doublings=int(rng.integers(-38, -6)),
    ),
    inputs=_inputs,
    large=lambda least_bytes: sized(
        "past L2", rows=blocks_to_cover(least_bytes, 5 * 4096), cols=4096, doublings=-24
    ),
    launches=_launches,
    reference=gives(_results),
    budgets=(
        bytes_loaded(
            "Each number of a has to come from memory once. A lane has four of a tile: it can keep "
            "them until the scale is known."
        ),
        bytes_stored("Each cell of q is written once, and so is each scale."),
        NO_ATOMICS,
        *IN_ORDER,
        NO_FLOAT64,
    ),
    share=Share(
        "Each thread writes at most four cells of q and one scale.",
        lambda case, output: KEPT if output == "q" else 1,
    ),
    codes=("q",),
)

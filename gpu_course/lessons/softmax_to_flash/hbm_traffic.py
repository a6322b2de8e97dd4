"""Puzzle `hbm_traffic`: what attention moves, as a function of what fits on the chip."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.softmax_to_flash.key_loads import standard_bytes, tile_rows, tiled_bytes
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values


def _case(name: str, n: int, d: int, on_chip: int, visible: bool = False) -> Case:
    return sized(name, visible=visible, n=n, d=d, on_chip=on_chip)


def _random_case(rng: np.random.Generator) -> Case:
    n, d = int(rng.integers(50, 5000)), int(rng.choice([16, 32, 64, 80, 128]))
    return _case("sizes drawn at random", n, d, int(rng.integers(16 * d + 8, 60_000)))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    return {name: case.sizes[name] for name in ("n", "d", "on_chip")}


def _reference(inputs: Values, case: Case) -> Values:
    n, d, on_chip = inputs["n"], inputs["d"], inputs["on_chip"]
    rows = tile_rows(n, d, on_chip)
    return {"result": (standard_bytes(n, d), tiled_bytes(n, d, rows) if rows else None)}


HBM_TRAFFIC = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", 100, 64, 13_312, visible=True),
        _case("one row", 1, 16, 4_096),
        _case("all rows on the chip", 48, 32, 100_000),
        _case("the last tile is full", 96, 64, 17_408),
        _case("just enough for one row", 40, 8, 4 * (2 * 8 + 2 + 2 * 8)),
        _case("one byte less", 40, 8, 4 * (2 * 8 + 2 + 2 * 8) - 1),
        _case("just enough for all rows", 30, 8, 4 * (30 * (2 * 8 + 2) + 2 * 8)),
        _case("one byte less than that", 30, 8, 4 * (30 * (2 * 8 + 2) + 2 * 8) - 1),
        _case("nothing on the chip", 10, 4, 0),
        _case("wide rows, and tiles of two", 300, 256, 6_200),
        _case("a shared memory of 227 KiB", 16_384, 128, 227 * 1024),
        _case("a thousand million rows", 1_000_000_007, 128, 227 * 1024),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
)

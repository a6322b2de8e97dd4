"""Puzzle `tiles_and_waves`: how much of a GPU a matrix product can use."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle

Answer = tuple[int, int, float]
TILE_SIDES = (64, 128, 256)


def tiles_and_waves(m: int, n: int, tile_m: int, tile_n: int, sms: int) -> Answer:
    """Returns (tiles, waves, share of the work that went into cells of the result).

    >>> tiles_and_waves(256, 128, 128, 128, 2)
    (2, 1, 1.0)
    >>> tiles_and_waves(257, 128, 128, 128, 2)[:2]
    (3, 2)
    """
    tiles = -(-m // tile_m) * -(-n // tile_n)
    waves = -(-tiles // sms)
    return tiles, waves, m * n / (waves * sms * tile_m * tile_n)


def _case(
    name: str, m: int, n: int, tile_m: int, tile_n: int, sms: int, visible: bool = False
) -> Case:
    return sized(name, visible=visible, m=m, n=n, tile_m=tile_m, tile_n=tile_n, sms=sms)


def _random_case(rng: np.random.Generator) -> Case:
    m, n = (int(side) for side in rng.integers(300, 5000, 2))
    tile_m, tile_n = (int(side) for side in rng.choice(TILE_SIDES, 2, replace=False))
    return _case("drawn at random", m, n, tile_m, tile_n, int(rng.integers(20, 150)))


TILES_AND_WAVES = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", 1000, 700, 128, 64, 20, visible=True),
        _case("one cell", 1, 1, 64, 128, 108),
        _case("all SMs busy, nothing left over", 1536, 2304, 128, 256, 108),
        _case("one column more", 1536, 2305, 128, 256, 108),
        _case("one tile less than a wave", 1792, 1920, 256, 128, 106),
        _case("a single SM", 300, 500, 64, 256, 1),
        _case("many small tiles", 4096, 4000, 32, 64, 132),
    ),
    random_case=_random_case,
    inputs=lambda rng, case: dict(case.sizes),
    reference=lambda inputs, case: {"result": tiles_and_waves(**inputs)},
    tolerance=(1e-9, 0.0),
)

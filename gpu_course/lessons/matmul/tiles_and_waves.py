"""Puzzle `tiles_and_waves`: how much of a GPU a matrix product can use."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import told
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

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


def _whole_only(m: int, n: int, tile_m: int, tile_n: int, sms: int) -> Answer:
    tiles = (m // tile_m) * (n // tile_n)
    waves = -(-tiles // sms)
    return tiles, waves, m * n / max(1, waves * sms * tile_m * tile_n)


def _by_area(m: int, n: int, tile_m: int, tile_n: int, sms: int) -> Answer:
    tiles = -(-m * n // (tile_m * tile_n))
    waves = -(-tiles // sms)
    return tiles, waves, m * n / (waves * sms * tile_m * tile_n)


def _last_wave_cut(m: int, n: int, tile_m: int, tile_n: int, sms: int) -> Answer:
    tiles = -(-m // tile_m) * -(-n // tile_n)
    return tiles, tiles // sms, m * n / max(1, tiles // sms * sms * tile_m * tile_n)


def _tiles_alone(m: int, n: int, tile_m: int, tile_n: int, sms: int) -> Answer:
    tiles, waves, _ = tiles_and_waves(m, n, tile_m, tile_n, sms)
    return tiles, waves, m * n / (tiles * tile_m * tile_n)


def _waves_alone(m: int, n: int, tile_m: int, tile_n: int, sms: int) -> Answer:
    tiles, waves, _ = tiles_and_waves(m, n, tile_m, tile_n, sms)
    return tiles, waves, tiles / (waves * sms)


def _sides_exchanged(m: int, n: int, tile_m: int, tile_n: int, sms: int) -> Answer:
    return tiles_and_waves(m, n, tile_n, tile_m, sms)


_OTHERWISE: tuple[tuple[str, Callable[..., Answer]], ...] = (
    ("whole-only", _whole_only),
    ("by-area", _by_area),
    ("last-wave", _last_wave_cut),
    ("tiles-alone", _tiles_alone),
    ("waves-alone", _waves_alone),
    ("exchanged", _sides_exchanged),
)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    found = got["result"]
    if not isinstance(found, tuple | list) or len(found) != 3:
        return None
    for key, count in _OTHERWISE:
        wrong = count(**inputs)
        if np.allclose(found, wrong) and not np.allclose(wrong, expected["result"]):
            return key
    return None


TILES_AND_WAVES = PythonPuzzle(
    **told(__file__),
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
    diagnose=_diagnose,
)

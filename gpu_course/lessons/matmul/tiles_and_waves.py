"""Puzzle `tiles_and_waves`: how much of a GPU a matrix product can use."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.specification import Case, Debrief, Mistake, PythonPuzzle, Values

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


DEBRIEF = Debrief(
    shows=("result",),
    why=(
        "Two roundings up decide: a side that does not divide by the tile makes blocks that work "
        "for nothing, and a number of tiles that does not divide by the SMs makes SMs that wait. "
        "What is left is the share of the machine that works on your result."
    ),
    alternative=(
        "You may compute the two losses one by one and multiply: cells over cells of all tiles, "
        "and tiles over places in all waves. The product is the same share."
    ),
)

TILES_AND_WAVES = PythonPuzzle(
    name="06_matmul/tiles_and_waves",
    title="tiles, waves and what is left",
    difficulty="easy",
    minutes=12,
    debrief=DEBRIEF,
    statement=(
        "Write a function that says for a matrix product of any size, any tile and any number of "
        "SMs how many tiles there are, how many waves they take, and which share of the work that "
        "the SMs could have done went into cells of the result."
    ),
    parameters={"tiles_and_waves": ("m", "n", "tile_m", "tile_n", "sms")},
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
    diagnoses={
        "whole-only": (
            "You counted only tiles that lie inside the matrix as a whole. Which block makes the "
            "cells at the border?"
        ),
        "by-area": (
            "You divided areas. A tile cannot be cut up to fill gaps: along each side there are "
            "so many tiles as begin inside the matrix."
        ),
        "last-wave": (
            "You left out the last wave because it is not full. Its tiles are made all the same, "
            "and how long do the other SMs wait for them?"
        ),
        "tiles-alone": (
            "Your share knows what is lost at the border of the matrix. It does not know of the "
            "SMs that have no tile in the last wave."
        ),
        "waves-alone": (
            "Your share knows of the SMs that have no tile in the last wave. It counts a tile that "
            "sticks out of the matrix as if all its cells were wanted."
        ),
        "exchanged": (
            "The tile lies the wrong way: tile_m goes along the rows that m counts, tile_n along "
            "the columns of n."
        ),
        "wrong-type": "Tiles and waves are whole numbers. Which of your divisions has a single /?",
    },
    hints=(
        "How many tiles begin along a side of 1000 with a tile of 128? Not 7.8: count them.",
        (
            "Tiles are the product of two such counts, one for each side. Waves are a third: how "
            "many groups of `sms` begin in that many tiles?"
        ),
        (
            "In the time of one wave the SMs could make sms * tile_m * tile_n cells. Multiply by "
            "the waves, and ask how large a part m * n is of that."
        ),
    ),
    mistakes=(
        Mistake("whole_tiles_only", "wrong-result", "whole-only"),
        Mistake("divides_areas", "wrong-result", "by-area"),
        Mistake("leaves_the_last_wave", "wrong-result", "last-wave"),
        Mistake("loses_at_the_border_only", "wrong-result", "tiles-alone"),
        Mistake("loses_in_the_last_wave_only", "wrong-result", "waves-alone"),
        Mistake("tile_the_wrong_way", "wrong-result", "exchanged"),
        Mistake("parts_of_tiles", "wrong-result", "wrong-type"),
    ),
    source=(
        "NVIDIA, Matrix Multiplication Background User's Guide, "
        "https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/"
    ),
)

"""What accesses cost is what counting every one of them gives."""

from __future__ import annotations

import numpy as np
import pytest

from simt.compiled.facts.patterns import (
    ALIKE,
    AT_ONES,
    IN_ROWS,
    OTHERS,
    banks,
    pieces,
    sectors,
    shape_of,
)
from simt.observe.transactions import count_request, count_wavefronts

THREADS = 128
LANES = np.arange(THREADS)
PATTERNS = {
    "a row": LANES,
    "backwards": -LANES,
    "one": LANES * 0,
    "rows of 16": LANES % 16 + LANES // 16 * 40,
    "columns": LANES % 16 * 17 + LANES // 16,
    "warps at one": LANES // 32 * 33,
    "halves at one": LANES // 16,
    "each warp on its own": LANES % 32 * 9,
    "half a warp twice": LANES % 16 * 9,
    "every other warp": LANES % 64 * 9,
    "mixed": np.random.default_rng(0).permutation(THREADS) - 60,
}


@pytest.mark.parametrize("size", [1, 2, 4, 8])
@pytest.mark.parametrize("name", PATTERNS)
def test_sectors_are_those_that_are_counted(name: str, size: int) -> None:
    offsets = PATTERNS[name] - PATTERNS[name][0]
    for number, row in enumerate(sectors(offsets, size)):
        first = (1 << 20) + number * size
        told = count_request(first + offsets * size, LANES // 32, size)
        assert row.tolist() == [
            told.requests, told.sectors, told.sectors - told.excess_sectors, told.bytes,
        ]  # fmt: skip


@pytest.mark.parametrize("size", [1, 2, 4, 8])
@pytest.mark.parametrize("address", [0, 64, 8])
@pytest.mark.parametrize("name", PATTERNS)
def test_wavefronts_are_those_that_are_counted(name: str, size: int, address: int) -> None:
    offsets = PATTERNS[name] - PATTERNS[name][0]
    rows = banks(offsets, size, address)
    for first in range(200, 260):
        told = count_wavefronts(address + (first + offsets) * size, LANES, size)
        row = rows[first * size % 16 // size]
        assert row.tolist() == [told.requests, told.wavefronts, told.wavefronts - told.conflicts]


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_loads_are_alike_where_all_lanes_find_their_numbers_in_the_same_16_bytes(size: int) -> None:
    patterns = [each - each[0] for each in PATTERNS.values()]
    told = pieces(patterns, size)
    first = np.arange(200, 216)
    keys, found = [], []
    for offsets, kinds in zip(patterns, told.of_warp, strict=True):
        for start in first:
            rows = ((start + offsets) * size).reshape(-1, 32)
            piece = rows[:, 0] >> 4
            kind = kinds[(rows[:, 0] & 15) // size, np.arange(len(rows))]
            keys.append(np.stack([kind, piece], axis=1))
            found.append(rows >> 4)
    for one, own in zip(keys, found, strict=True):
        for other, its in zip(keys, found, strict=True):
            assert ((one == other).all(axis=1) == (own == its).all(axis=1)).all()


def test_shapes() -> None:
    shapes = {name: shape_of(offsets) for name, offsets in PATTERNS.items()}
    assert {name for name, shape in shapes.items() if shape == IN_ROWS} == {"a row", "rows of 16"}
    ones = {"one", "warps at one", "halves at one"}
    assert {name for name, shape in shapes.items() if shape == AT_ONES} == ones
    warps = {"each warp on its own", "half a warp twice"}
    assert {name for name, shape in shapes.items() if shape == ALIKE} == warps
    others = ("backwards", "columns", "mixed", "every other warp")
    assert {shapes[name] for name in others} == {OTHERS}
    assert shape_of(LANES[:32] * 9) == OTHERS

"""What each kernel puzzle of lesson 15 asks for, as loops in plain Python."""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from typing import Any

import numpy as np

from tests.course.puzzles.loops import repeats


def _number(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


def to_bf16(bits: list[int], size: int) -> dict[str, Any]:
    """Both neighbours are tried, and the distances compared."""
    out = []
    for each in bits:
        number, upper = _number(each), each >> 16
        if number != number:
            out.append(0x7FC0)
            continue
        if abs(number) == float("inf"):
            out.append(upper)
            continue
        here, above = _number(upper << 16), _number((upper + 1) << 16)
        if abs(above) == float("inf"):
            above = 2.0**128 if number > 0 else -(2.0**128)
        down, up = abs(number - here), abs(above - number)
        nearer_above = up < down or (up == down and upper % 2 == 1)
        out.append(upper + 1 if nearer_above else upper)
    return {"out": out}


def kahan_sum(a: list[list[float]], rows: int, size: int) -> dict[str, Any]:
    """Sums of fractions, which round nothing."""
    out = []
    for column in zip(*a, strict=True):
        if all(map(math.isfinite, column)):
            total = float(sum(map(Fraction, column)))
            out.append(math.copysign(math.inf, total) if abs(total) >= 2.0**128 else total)
        else:
            out.append(sum(column))
    return {"out": out}


def _e4m3(x: float) -> int:
    """The code whose number is nearest, by trying all that are not NaN."""
    sign = 0x80 if math.copysign(1, x) < 0 else 0
    if math.isnan(x):
        return 0x7F
    size = min(abs(x), 448.0)
    found = min(range(0x7F), key=lambda code: (abs(_size(code) - size), code % 2))
    return sign | found


def _size(code: int) -> float:
    field, mantissa = divmod(code, 8)
    return mantissa / 8 * 2.0**-6 if field == 0 else (8 + mantissa) / 8 * 2.0 ** (field - 7)


@repeats
def quantise_fp8_tiles(a: list[list[float]], rows: int, cols: int, tiles: int) -> dict[str, Any]:
    q, scale = [], []
    for row in a:
        codes, scales = [], []
        for tile in range(tiles):
            part = row[tile * 128 : tile * 128 + 128]
            sizes = [abs(x) for x in part if math.isfinite(x)]
            most = max([np.float32(1e-4), *map(np.float32, sizes)])
            own = most / np.float32(448)
            scales.append(float(own))
            codes += [_e4m3(float(np.float32(x) / own)) for x in part]
        q.append(codes)
        scale.append(scales)
    return {"q": q, "scale": scale}

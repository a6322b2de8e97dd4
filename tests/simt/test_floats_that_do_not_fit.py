"""Floats that a whole number cannot hold become what PTX's `cvt.rzi` makes of them.

C and NumPy promise nothing there, and processors differ. The values are those of the PTX ISA 9.0,
9.7.9.21: the nearest number that fits; of NaN 0 where neither side has 64 bits, else the highest
bit alone. tests/ptx holds the same against what Numba compiles.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import cuda, int16, int32, int64, uint16, uint32, uint64

from simt.simulator import simulate

TYPES = ("int16", "int32", "int64", "uint16", "uint32", "uint64")


def converted(n, x):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    n[0, i] = int16(x[i])
    n[1, i] = int32(x[i])
    n[2, i] = int64(x[i])
    n[3, i] = uint16(x[i])
    n[4, i] = uint32(x[i])
    n[5, i] = int64(uint64(x[i]))


def of_a_scalar(n, x):  # type: ignore[no-untyped-def]
    n[0, 0] = int16(x)
    n[1, 0] = int32(x)
    n[2, 0] = int64(x)
    n[3, 0] = uint16(x)
    n[4, 0] = uint32(x)
    n[5, 0] = int64(uint64(x))


def wanted(value: float, kind: str, dtype: str) -> int:
    bounds = np.iinfo(kind)
    if value != value:
        nan = 0 if bounds.bits < 64 and dtype == "float32" else 1 << (bounds.bits - 1)
        return int(np.array(nan, np.uint64).astype(kind))
    if value in (np.inf, -np.inf):
        return int(bounds.max if value > 0 else bounds.min)
    return min(max(int(value), int(bounds.min)), int(bounds.max))


VALUES = [0.0, -0.5, 1.9, -1.9, 4e4, -4e4, 7e4, 3e9, -3e9, 5e9, 1e19, 3e19, -1e19, np.inf, -np.inf]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kernel", [converted, of_a_scalar])
def test_the_nearest_that_fits(kernel: Any, dtype: str) -> None:
    values = np.array([*VALUES, np.nan], dtype)
    right = [[wanted(float(v), kind, dtype) for v in values] for kind in TYPES]
    if kernel is converted:
        out = np.zeros((len(TYPES), values.size), np.int64)
        simulate(kernel)[1, values.size](out, values)
    else:
        columns = []
        for value in values:
            one = np.zeros((len(TYPES), 1), np.int64)
            simulate(kernel)[1, 1](one, value)
            columns.append(one)
        out = np.concatenate(columns, axis=1)
    right[5] = np.array(right[5], np.uint64).view(np.int64).tolist()
    assert out.tolist() == right


def stored(bytes_, words, x):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    bytes_[i] = x[i]
    words[i] = x[i]
    cuda.atomic.max(words, 0, x[i])


def test_what_is_stored_is_converted_alike() -> None:
    x = np.array([3e9, -3e9, 300.5, np.nan], np.float32)
    bytes_, words = np.zeros(4, np.uint8), np.zeros(4, np.int32)
    simulate(stored)[1, 4](bytes_, words, x)
    # There is no conversion to 8 bits: they are the lowest of 16.
    assert bytes_.tolist() == [255, 0, 44, 0]
    assert words.tolist() == [2**31 - 1, -(2**31), 300, 0]


def fused(out, a, b, c):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    out[i] = cuda.fma(a[i], b[i], c[i])


def test_a_fused_float64_that_is_too_large_is_infinite() -> None:
    most = np.finfo(np.float64).max
    a, b = np.array([most, most, most]), np.array([2.0, -2.0, 2.0])
    out = np.zeros(3)
    simulate(fused)[1, 3](out, a, b, np.array([0.0, 0.0, -most]))
    assert out.tolist() == [np.inf, -np.inf, most]

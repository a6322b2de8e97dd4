"""Shared memory whose size the launch says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import cuda, float32, float64, int32

from simt.compiled import jit
from simt.simulator import simulate
from tests.simt.compiled.both_ways import HAZARD, NOT_COMPILED, SAME, Seen, both_ways

pytestmark = pytest.mark.skipif(not jit.available(), reason="no LLVM to compile with")


def seen(kernel: Callable[..., None], *sizes: int, dtype: Any = np.float32) -> Seen:
    v = np.linspace(-3, 5, 192).astype(dtype)
    with both_ways(Seen()) as found:
        for size in sizes:
            simulate(kernel)[3, 64, None, size](np.zeros(192, dtype), v)
    assert not found.wrong, found.wrong
    return found


def turned(out, v):
    tile = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    tile[t] = v[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = tile[63 - t] + float32(tile.size + len(tile))


def turned_wide(out, v):
    tile = cuda.shared.array(0, float64)
    small = cuda.shared.array(3, int32)
    t = cuda.threadIdx.x
    tile[2 * t] = v[cuda.grid(1)]
    if t < 3:
        small[t] = t
    cuda.syncthreads()
    for k in range(3):
        out[cuda.grid(1)] += tile[2 * (63 - t)] * small[k]


def summed(out, v):
    tile = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    tile[t] = v[cuda.grid(1)]
    half = cuda.blockDim.x // 2
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


def test_it_is_as_large_as_the_launch_says() -> None:
    assert seen(turned, 256, 1024, 256, 300).counts[SAME] == 4
    assert seen(turned_wide, 1024, 1030, dtype=np.float64).counts[SAME] == 2
    assert seen(summed, 256, 512).counts[SAME] == 2


def no_barrier(out, v):
    tile = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    tile[t] = v[cuda.grid(1)]
    out[cuda.grid(1)] = tile[63 - t]


def never_written(out, v):
    tile = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    if t:
        tile[t] = v[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = tile[63 - t]


def test_what_is_wrong_is_suspicious() -> None:
    assert seen(turned, 252, 0).counts[HAZARD] == 2
    assert seen(no_barrier, 256, 512).counts[HAZARD] == 2
    assert seen(never_written, 256).counts[HAZARD] == 1


def two_in_one(out, v):
    tile = cuda.shared.array(0, float32)
    same = cuda.shared.array(0, int32)
    t = cuda.threadIdx.x
    tile[t] = v[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = same[63 - t]


def test_two_arrays_in_the_same_bytes_stay_interpreted() -> None:
    assert seen(two_in_one, 256).counts[NOT_COMPILED] == 1

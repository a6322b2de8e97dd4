"""The rungs of the matmul ladder, each counted by the simulator on one square of results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from simt.report import WARP, Report
from simt.simulator import simulate


@dataclass(frozen=True)
class Rung:
    """What one kernel of the ladder asks of memory.

    Attributes:
        name: what the kernel does, in a few words.
        global_loads: numbers that a thread asks of global memory for each multiply-add.
        shared_loads: numbers that a thread asks of shared memory for each multiply-add.
    """

    name: str
    global_loads: float
    shared_loads: float


def straight_kernel() -> Callable[..., None]:
    """Returns a kernel of one result per thread, straight from global memory."""
    from numba import cuda, float32

    def straight(out: Any, a: Any, b: Any, k: Any) -> None:
        x = cuda.threadIdx.x
        y = cuda.threadIdx.y
        total = float32(0)
        for p in range(k):
            total += a[y, p] * b[p, x]
        out[y, x] = total

    return straight


def tiled_kernel(side: int) -> Callable[..., None]:
    """Returns a kernel of one result per thread, through tiles of `side` by `side`.

    Args:
        side: of the tiles and of the square of results that shares them, at most that of the
            block; a larger block makes several such squares.
    """
    from numba import cuda, float32

    def tiled(out: Any, a: Any, b: Any, k: Any) -> None:
        a_tile = cuda.shared.array((side, side), float32)
        b_tile = cuda.shared.array((side, side), float32)
        x = cuda.threadIdx.x
        y = cuda.threadIdx.y
        col, row = cuda.grid(2)
        total = float32(0)
        for start in range(0, k, side):
            a_tile[y, x] = a[row, start + x]
            b_tile[y, x] = b[start + y, col]
            cuda.syncthreads()
            for p in range(side):
                total += a_tile[y, p] * b_tile[p, x]
            cuda.syncthreads()
        out[row, col] = total

    return tiled


def strip_kernel() -> Callable[..., None]:
    """Returns a kernel of 8 results per thread, one below the other, for a square of 64 by 64."""
    from numba import cuda, float32

    def strip(out: Any, a: Any, b: Any, k: Any) -> None:
        a_tile = cuda.shared.array((64, 8), float32)
        b_tile = cuda.shared.array((8, 64), float32)
        sums = cuda.local.array(8, float32)
        x = cuda.threadIdx.x
        y = cuda.threadIdx.y
        t = y * 64 + x
        for i in range(8):
            sums[i] = float32(0)
        for start in range(0, k, 8):
            a_tile[t // 8, t % 8] = a[t // 8, start + t % 8]
            b_tile[y, x] = b[start + y, x]
            cuda.syncthreads()
            for p in range(8):
                number = b_tile[p, x]
                for i in range(8):
                    sums[i] += a_tile[y * 8 + i, p] * number
            cuda.syncthreads()
        for i in range(8):
            out[y * 8 + i, x] = sums[i]

    return strip


def square_kernel() -> Callable[..., None]:
    """Returns a kernel of 8 by 8 results per thread, for a square of 128 by 128."""
    from numba import cuda, float32

    def square(out: Any, a: Any, b: Any, k: Any) -> None:
        a_tile = cuda.shared.array((128, 8), float32)
        b_tile = cuda.shared.array((8, 128), float32)
        sums = cuda.local.array((8, 8), float32)
        a_here = cuda.local.array(8, float32)
        b_here = cuda.local.array(8, float32)
        x = cuda.threadIdx.x
        y = cuda.threadIdx.y
        t = y * 16 + x
        for i in range(8):
            for j in range(8):
                sums[i, j] = float32(0)
        for start in range(0, k, 8):
            for i in range(4):
                a_tile[t // 8 + i * 32, t % 8] = a[t // 8 + i * 32, start + t % 8]
                b_tile[t // 128 + i * 2, t % 128] = b[start + t // 128 + i * 2, t % 128]
            cuda.syncthreads()
            for p in range(8):
                for i in range(8):
                    a_here[i] = a_tile[y + i * 16, p]
                    b_here[i] = b_tile[p, x + i * 16]
                for i in range(8):
                    for j in range(8):
                        sums[i, j] += a_here[i] * b_here[j]
            cuda.syncthreads()
        for i in range(8):
            for j in range(8):
                out[y + i * 16, x + j * 16] = sums[i, j]

    return square


_RUNGS: tuple[tuple[str, Callable[[], Callable[..., None]], int, tuple[int, int], int], ...] = (
    ("no tiles", straight_kernel, 32, (32, 32), 32),
    ("tiles of 32 by 32", lambda: tiled_kernel(32), 32, (32, 32), 32),
    ("strips of 8 results", strip_kernel, 64, (64, 8), 8),
    ("squares of 8 by 8", square_kernel, 128, (16, 16), 8),
)
"""Name, kernel, side of the square of results, block, and k: each as in Boehm's kernels 2 to 5."""


def climb() -> tuple[Rung, ...]:
    """Returns the rungs, each counted on one square of results.

    The sums along k are as short as one tile: loads for each multiply-add do not depend on k.
    """
    found = []
    for name, kernel, side, block, k in _RUNGS:
        counters = _run(kernel(), side, block, k).counters
        products = counters.fma
        found.append(
            Rung(
                name,
                counters.global_load.requests * WARP / products,
                counters.shared_load.requests * WARP / products,
            )
        )
    return tuple(found)


def _run(kernel: Callable[..., None], side: int, block: tuple[int, int], k: int) -> Report:
    rng = np.random.default_rng(0)
    a = rng.standard_normal((side, k)).astype(np.float32)
    b = rng.standard_normal((k, side)).astype(np.float32)
    out = np.zeros((side, side), np.float32)
    report: Report = simulate(kernel)[1, block](out, a, b, k)
    return report


Loaded = tuple[np.ndarray, np.ndarray]
"""Two bool arrays of a matrix's shape: what block 0 loads, and what its first thread does."""


@dataclass(frozen=True)
class Reuse:
    """What is loaded from global memory when a product goes through tiles.

    Attributes:
        side: of the tile; 1 for none.
        loads: of all threads together.
        a, b: of each matrix what block 0 loads, and what its first thread does.
    """

    side: int
    loads: int
    a: Loaded
    b: Loaded


def reuse(side: int, size: int = 16) -> Reuse:
    """Returns what is loaded when a product of square matrices goes through tiles.

    Args:
        side: of a tile, which divides `size`; 1 is a load for each factor of each product.
        size: rows and columns of all three matrices.

    >>> reuse(1, 4).loads, reuse(4, 4).loads
    (128, 32)
    """
    matrices = [np.zeros((size, size), np.float32) for _ in range(3)]
    kernel, blocks = tiled_kernel(side), size // side
    report: Report = simulate(kernel)[(blocks, blocks), (side, side)](*matrices, size)
    loads = 0
    loaded = {name: (np.zeros(size * size, bool), np.zeros(size * size, bool)) for name in "ab"}
    for touch in report.touches:
        if touch.array in loaded:
            loads += len(touch.cells)
            for found, last in zip(loaded[touch.array], (side * side, 1), strict=True):
                found[touch.cells[touch.threads < last]] = True
    shaped = {
        name: (block.reshape(size, size), thread.reshape(size, size))
        for name, (block, thread) in loaded.items()
    }
    return Reuse(side, loads, shaped["a"], shaped["b"])

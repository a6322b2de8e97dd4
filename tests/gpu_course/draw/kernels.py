"""Kernels and numbers as lessons have them, to draw pictures of."""

from __future__ import annotations

import numpy as np
from numba import cuda, float32


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


def numbers(*shape: int) -> np.ndarray:
    return np.linspace(-19.875, 20.125, int(np.prod(shape)), dtype=np.float32).reshape(shape)


def reverse(out, a):
    """A race: the barrier is missing."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]
    out[cuda.grid(1)] = tile[63 - t] if t < 63 else tile[63 - t] + float32(0) * a[cuda.grid(1)]


def behind_the_guard(out, a, size):
    """A barrier that two threads miss."""
    tile = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    if t < size:
        tile[t] = a[t]
        cuda.syncthreads()
        out[t] = tile[size - 1 - t]


def blocks_2d(out, a, bias, rows, cols):
    """Row and column the wrong way round."""
    row, col = cuda.grid(2)
    if row < rows and col < cols:
        out[row, col] = a[row, col] + bias[col]


def turn_square(out):
    """A tile of two dimensions."""
    tile = cuda.shared.array((4, 4), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    tile[y, x] = x
    cuda.syncthreads()
    out[y, x] = tile[x, y]


def turn_wide(out, a):
    """A tile of 32 cells, raced for."""
    tile = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    out[t] = tile[31 - t]


def add_neighbours(out, a, size, rounds):
    """Each round reads a neighbour's cell that the round before may not have written yet."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i] if i < size else float32(0)
    cuda.syncthreads()
    for _ in range(rounds):
        left = tile[t - 1] if t > 0 else float32(0)
        cuda.syncthreads()
        tile[t] += left
    if i < size:
        out[i] = tile[t]

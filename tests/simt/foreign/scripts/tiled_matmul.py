"""Multiplies matrices whose sides are no multiples of the tile, through shared memory."""

import math

import numpy as np
from numba import cuda, float32

TILE = 8


@cuda.jit("void(float32[:, :], float32[:, :], float32[:, :])")
def matmul(a, b, c):
    left = cuda.shared.array((TILE, TILE), float32)
    right = cuda.shared.array((TILE, TILE), dtype=float32)
    row, column = cuda.grid(2)
    y, x = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for tile in range((a.shape[1] + TILE - 1) // TILE):
        left[y, x] = 0
        right[y, x] = 0
        if row < a.shape[0] and tile * TILE + x < a.shape[1]:
            left[y, x] = a[row, tile * TILE + x]
        if column < b.shape[1] and tile * TILE + y < b.shape[0]:
            right[y, x] = b[tile * TILE + y, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += left[y, k] * right[k, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


a = np.arange(23 * 19, dtype=np.float32).reshape(23, 19) % 7
b = np.arange(19 * 29, dtype=np.float32).reshape(19, 29) % 5
c = np.full((23, 29), -1, np.float32)
grid = math.ceil(c.shape[0] / TILE), math.ceil(c.shape[1] / TILE)
matmul[grid, (TILE, TILE)](a, b, c)
print("equal:", np.array_equal(c, a @ b))

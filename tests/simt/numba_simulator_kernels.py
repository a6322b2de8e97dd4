"""Race-free kernels of 64-bit values without warp operations, for Numba's own CUDA simulator.

Run as a module it launches each of them there and writes what they leave behind:

    NUMBA_ENABLE_CUDASIM=1 python numba_simulator_kernels.py RESULTS.npz

It imports nothing of the course, and Numba decides at its import whether to simulate.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda, float64, int64

TILE = 8
PADDED = TILE + 2
WEIGHTS = np.array([0.25, 0.5, 0.125])


@cuda.jit(device=True)
def square(x):
    return x * x


@cuda.jit(device=True)
def steps_of_collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@cuda.jit(device=True)
def sum_and_most(row):
    total = 0.0
    most = row[0]
    for k in range(row.size):
        total += row[k]
        if row[k] > most:
            most = row[k]
    return total, most


@cuda.jit
def map_one(out, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = square(a[i]) + math.sin(a[i]) / 2


@cuda.jit
def grid_stride(out, a):
    start = cuda.grid(1)
    for i in range(start, out.size, cuda.gridsize(1)):
        out[i] = a[i] * i - i // 3


@cuda.jit
def nested_branches(out, a):
    i = cuda.grid(1)
    if i >= out.size:
        return
    if a[i] > 0:
        if i % 3 == 0:
            out[i] = a[i]
        elif i % 3 == 1:
            out[i] = -a[i]
        else:
            out[i] = 1 / a[i]
    else:
        k = 0
        while k * k < i:
            k += 1
        out[i] = k


@cuda.jit
def collatz(out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = steps_of_collatz(i + 1)


@cuda.jit
def break_and_continue(out, a):
    i = cuda.grid(1)
    if i < out.size:
        total = 0.0
        for k in range(a.size):
            if k % 4 == i % 4:
                continue
            if k > i:
                break
            total += a[k]
        else:
            total = -1.0
        out[i] = total


@cuda.jit
def reverse_in_block(out, a):
    tile = cuda.shared.array(TILE, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    cuda.syncthreads()
    out[i] = tile[TILE - 1 - t]


@cuda.jit
def tree_sum(out, a):
    part = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = a[i] if i < a.size else 0.0
    cuda.syncthreads()
    step = 8
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


@cuda.jit
def scan_of_blocks(out, a):
    buffers = cuda.shared.array((2, 16), float64)
    t = cuda.threadIdx.x
    now = 0
    buffers[0, t] = a[cuda.grid(1)]
    cuda.syncthreads()
    reach = 1
    while reach < 16:
        value = buffers[now, t]
        if t >= reach:
            value += buffers[now, t - reach]
        buffers[1 - now, t] = value
        cuda.syncthreads()
        now = 1 - now
        reach *= 2
    out[cuda.grid(1)] = buffers[now, t]


@cuda.jit
def matmul_of_tiles(out, a, b):
    left = cuda.shared.array((4, 4), float64)
    right = cuda.shared.array((4, 4), float64)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    total = 0.0
    for first in range(0, a.shape[1], 4):
        left[ty, tx] = 0.0
        right[ty, tx] = 0.0
        if y < a.shape[0] and first + tx < a.shape[1]:
            left[ty, tx] = a[y, first + tx]
        if x < b.shape[1] and first + ty < b.shape[0]:
            right[ty, tx] = b[first + ty, x]
        cuda.syncthreads()
        for k in range(4):
            total += left[ty, k] * right[k, tx]
        cuda.syncthreads()
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = total


@cuda.jit
def transpose(out, a):
    tile = cuda.shared.array((4, 5), float64)
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        tile[cuda.threadIdx.y, cuda.threadIdx.x] = a[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.x
    y = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.y
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


@cuda.jit
def stencil_with_halo(out, a):
    tile = cuda.shared.array(PADDED, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t + 1] = a[i] if i < a.size else 0.0
    if t == 0:
        tile[0] = a[i - 1] if 0 < i <= a.size else 0.0
    if t == TILE - 1:
        tile[TILE + 1] = a[i + 1] if i + 1 < a.size else 0.0
    cuda.syncthreads()
    if i < out.size:
        total = 0.0
        for k in range(3):
            total += tile[t + k] * (k + 1)
        out[i] = total


@cuda.jit
def convolve_constant(out, a):
    weights = cuda.const.array_like(WEIGHTS)
    i = cuda.grid(1)
    if i < out.size:
        total = 0.0
        for k in range(3):
            if i + k < a.size:
                total += weights[k] * a[i + k]
        out[i] = total


@cuda.jit
def histogram(counts, a):
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(counts, a[i] % counts.size, 1)


@cuda.jit
def histogram_in_shared(counts, a):
    own = cuda.shared.array(TILE, int64)
    t = cuda.threadIdx.x
    own[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(own, a[i] % TILE, 1)
    cuda.syncthreads()
    cuda.atomic.add(counts, t, own[t])


@cuda.jit
def extremes(found, a):
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.max(found, 0, a[i])
        cuda.atomic.min(found, 1, a[i])
        cuda.atomic.add(found, 2, a[i])
        cuda.atomic.sub(found, 3, a[i])


@cuda.jit
def atomic_bits(found, a):
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.or_(found, 0, a[i])
        cuda.atomic.and_(found, 1, a[i])
        cuda.atomic.xor(found, 2, a[i])


@cuda.jit
def atomic_in_two_dimensions(counts, a):
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        cuda.atomic.add(counts, (y % 2, x % 3), a[y, x])


@cuda.jit
def sort_locally(out, a):
    own = cuda.local.array(5, float64)
    i = cuda.grid(1)
    for k in range(5):
        own[k] = a[(i * 3 + k * 7) % a.size]
    for p in range(4):
        for q in range(4 - p):
            if own[q] > own[q + 1]:
                own[q], own[q + 1] = own[q + 1], own[q]
    for k in range(5):
        out[i, k] = own[k]


@cuda.jit
def rows_as_views(out, a):
    r = cuda.grid(1)
    if r < a.shape[0]:
        total, most = sum_and_most(a[r])
        half, first = sum_and_most(a[r, 1::2])
        out[r, 0] = total
        out[r, 1] = most
        out[r, 2] = half + first


@cuda.jit
def columns_as_views(out, a):
    c = cuda.grid(1)
    if c < a.shape[1]:
        column = a[:, c]
        part = column[2:5]
        part[0] = part[1] + part[2]
        out[c] = column[2] + part.size


@cuda.jit
def tuples(out, a):
    i = cuda.grid(1)
    if i < out.size:
        pair = (a[i], i)
        x, k = pair
        shape = a.shape
        out[i] = x * k + len(pair) + shape[0]


@cuda.jit
def volume(out, a):
    x, y, z = cuda.grid(3)
    if z < out.shape[0] and y < out.shape[1] and x < out.shape[2]:
        out[z, y, x] = a[x, y, z] + 100 * z + 10 * y + x


@cuda.jit
def places(out):
    x, y, z = cuda.grid(3)
    width, height, _ = cuda.gridsize(3)
    i = (z * height + y) * width + x
    out[i, 0] = cuda.threadIdx.x + 10 * cuda.threadIdx.y + 100 * cuda.threadIdx.z
    out[i, 1] = cuda.blockIdx.x + 10 * cuda.blockIdx.y + 100 * cuda.blockIdx.z
    out[i, 2] = cuda.blockDim.x + 10 * cuda.blockDim.y + 100 * cuda.blockDim.z
    out[i, 3] = cuda.gridDim.x + 10 * cuda.gridDim.y + 100 * cuda.gridDim.z


@cuda.jit
def count_at_a_barrier(out, a):
    i = cuda.grid(1)
    positive = 1 if a[i] > 0 else 0
    out[i, 0] = cuda.syncthreads_count(positive)
    out[i, 1] = cuda.syncthreads_and(positive)
    out[i, 2] = cuda.syncthreads_or(positive)


@cuda.jit
def ping_pong_in_global(a, b):
    i = cuda.grid(1)
    n = cuda.blockDim.x
    for _ in range(3):
        b[i] = a[(i + 1) % n] + 1
        cuda.syncthreads()
        a[i] = b[(i + 1) % n] * 2
        cuda.syncthreads()


@cuda.jit
def game_of_life(out, a):
    x, y = cuda.grid(2)
    height, width = a.shape
    if y < height and x < width:
        alive = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                if dx != 0 or dy != 0:
                    alive += a[(y + dy + height) % height, (x + dx + width) % width]
        out[y, x] = 1 if alive == 3 or (alive == 2 and a[y, x] == 1) else 0


def launches() -> dict[str, tuple[Callable[..., Any], Any, Any, tuple[np.ndarray, ...]]]:
    """Returns name -> kernel, grid, block and fresh arguments; the same ones at each call."""
    rng = np.random.default_rng(20)
    reals = rng.normal(size=40)
    wholes = rng.integers(0, 100, 40)
    matrix = rng.normal(size=(6, 9))
    zeros = np.zeros
    cells = wholes[:28].repeat(2).reshape(7, 8) % 2

    def whole_zeros(*shape: int) -> np.ndarray:
        return np.zeros(shape, np.int64)

    table: list[tuple[Callable[..., Any], Any, Any, tuple[np.ndarray, ...]]] = [
        (map_one, 5, 9, (zeros(40), reals)),
        (grid_stride, 2, 7, (zeros(40), reals)),
        (nested_branches, 3, 16, (zeros(40), reals)),
        (collatz, 3, 9, (whole_zeros(25),)),
        (break_and_continue, 4, 10, (zeros(37), reals)),
        (reverse_in_block, 5, TILE, (zeros(40), reals)),
        (tree_sum, 3, 16, (zeros(3), reals)),
        (scan_of_blocks, 2, 16, (zeros(32), reals[:32])),
        (matmul_of_tiles, (2, 2), (4, 4), (zeros((6, 7)), matrix, rng.normal(size=(9, 7)))),
        (transpose, (3, 2), (4, 4), (zeros((9, 6)), matrix)),
        (stencil_with_halo, 5, TILE, (zeros(37), reals[:37])),
        (convolve_constant, 2, 20, (zeros(40), reals)),
        (histogram, 3, 16, (whole_zeros(7), wholes)),
        (histogram_in_shared, 5, TILE, (whole_zeros(TILE), wholes)),
        (extremes, 3, 16, (np.array([-1000, 1000, 0, 0]), wholes - 50)),
        (atomic_bits, 3, 16, (np.array([0, -1, 0]), wholes)),
        (atomic_in_two_dimensions, (3, 2), (3, 3), (whole_zeros(2, 3), wholes[:36].reshape(4, 9))),
        (sort_locally, 2, 4, (zeros((8, 5)), reals)),
        (rows_as_views, 1, 8, (zeros((6, 3)), matrix)),
        (columns_as_views, 2, 6, (zeros(9), matrix)),
        (tuples, 2, 20, (zeros(40), reals)),
        (volume, (2, 2, 3), (3, 2, 2), (zeros((5, 3, 4)), rng.normal(size=(4, 3, 5)))),
        (places, (2, 1, 2), (2, 3, 2), (whole_zeros(48, 4),)),
        (count_at_a_barrier, 4, 10, (whole_zeros(40, 3), reals)),
        (ping_pong_in_global, 1, 20, (reals[:20], zeros(20))),
        (
            game_of_life,
            (2, 2),
            (4, 4),
            (whole_zeros(7, 8), cells),
        ),
    ]
    return {
        kernel.__name__: (kernel, grid, block, tuple(np.copy(a) for a in given))
        for kernel, grid, block, given in table
    }


def main(path: str) -> None:
    """Launches every kernel and writes "name/position" -> array."""
    results = {}
    for name, (kernel, grid, block, arguments) in launches().items():
        kernel[grid, block](*arguments)
        results |= {f"{name}/{k}": array for k, array in enumerate(arguments)}
    np.savez(path, **results)


if __name__ == "__main__":
    main(sys.argv[1])

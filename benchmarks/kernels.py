"""The kernels that benchmarks/simulator.py times: small, common, and free of hazards."""

from __future__ import annotations

from numba import cuda, float32

THREADS = 256
TILE = 16
PADDED = TILE + 1
RADIUS = 4
WINDOW = THREADS + 2 * RADIUS
BINS = 64


@cuda.jit
def scale(out, a):
    """out = 2 a + 1"""
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] * float32(2) + float32(1)


@cuda.jit
def tree_sum(out, a):
    """out[block] = the sum of the block's part of a"""
    part = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = a[i] if i < a.size else float32(0)
    cuda.syncthreads()
    stride = THREADS // 2
    while stride > 0:
        if t < stride:
            part[t] += part[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


@cuda.jit
def hillis_steele(out, a):
    """out = the running sum of a within each block"""
    part = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = a[i] if i < a.size else float32(0)
    cuda.syncthreads()
    offset = 1
    while offset < THREADS:
        before = float32(0)
        if t >= offset:
            before = part[t - offset]
        cuda.syncthreads()
        part[t] += before
        cuda.syncthreads()
        offset *= 2
    if i < a.size:
        out[i] = part[t]


@cuda.jit
def matmul(c, a, b):
    """c = a @ b, tile by tile through shared memory"""
    left = cuda.shared.array((TILE, TILE), float32)
    right = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0)
    for tile in range(a.shape[1] // TILE):
        left[y, x] = a[row, tile * TILE + x]
        right[y, x] = b[tile * TILE + y, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += left[y, k] * right[k, x]
        cuda.syncthreads()
    c[row, column] = total


@cuda.jit
def transpose(out, a):
    """out = a.T, through a shared tile with one column of padding"""
    tile = cuda.shared.array((TILE, PADDED), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    tile[y, x] = a[top + y, left + x]
    cuda.syncthreads()
    out[left + y, top + x] = tile[x, y]


@cuda.jit
def histogram(counts, bins):
    """counts[b] = how often b occurs in bins"""
    i = cuda.grid(1)
    if i < bins.size:
        cuda.atomic.add(counts, bins[i], 1)


@cuda.jit
def conv1d(out, a, weights):
    """out[i] = the weighted sum of a[i - RADIUS] to a[i + RADIUS], zeros past the ends"""
    window = cuda.shared.array(WINDOW, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    window[t + RADIUS] = a[i] if i < a.size else float32(0)
    if t < RADIUS:
        before = i - RADIUS
        window[t] = a[before] if before >= 0 else float32(0)
        after = i + THREADS
        window[t + THREADS + RADIUS] = a[after] if after < a.size else float32(0)
    cuda.syncthreads()
    total = float32(0)
    for k in range(2 * RADIUS + 1):
        total += window[t + k] * weights[k]
    if i < out.size:
        out[i] = total

"""The kernels that benchmarks/simulator.py times: small, common, and free of hazards."""

from __future__ import annotations

import math

from numba import cuda, float32

THREADS = 256
TILE = 16
PADDED = TILE + 1
RADIUS = 4
WINDOW = THREADS + 2 * RADIUS
BINS = 64
QUERIES = 128
DEPTH = 64
KEYS = 32
LOWEST = -math.inf


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


@cuda.jit
def flash_attention(out, q, k, v):
    """out = softmax(q k.T) v, a query for each thread, KEYS keys at a time, no scores in memory"""
    keys = cuda.shared.array((KEYS, DEPTH), float32)
    values = cuda.shared.array((KEYS, DEPTH), float32)
    own = cuda.local.array(DEPTH, float32)
    sums = cuda.local.array(DEPTH, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    for c in range(DEPTH):
        own[c] = q[i, c]
        sums[c] = float32(0)
    most = float32(LOWEST)
    part = float32(0)
    for first in range(0, k.shape[0], KEYS):
        for row in range(t // DEPTH, KEYS, QUERIES // DEPTH):
            keys[row, t % DEPTH] = k[first + row, t % DEPTH]
            values[row, t % DEPTH] = v[first + row, t % DEPTH]
        cuda.syncthreads()
        for j in range(KEYS):
            score = float32(0)
            for c in range(DEPTH):
                score += own[c] * keys[j, c]
            new = max(most, score)
            p = math.exp(score - new)
            shrink = math.exp(most - new)
            part = part * shrink + p
            for c in range(DEPTH):
                sums[c] = sums[c] * shrink + p * values[j, c]
            most = new
        cuda.syncthreads()
    for c in range(DEPTH):
        out[i, c] = sums[c] / part

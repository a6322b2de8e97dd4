"""Kernels whose traffic can be counted by hand: what nsight.py lays beside the GPU."""

from __future__ import annotations

from numba import cuda, float32

TILE = 32
PADDED = TILE + 1  # Numba takes a name for a shape, and no sum of names


@cuda.jit
def copy(out, a):
    """out = a, whole warps side by side"""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]


@cuda.jit
def strided(out, a, stride):
    """out[i] = a[i stride]: each lane `stride` cells after the one before"""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i * stride]


@cuda.jit
def shifted(out, a):
    """out[i] = a[i + 1]: each warp starts one cell after a sector does"""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i + 1]


@cuda.jit
def transpose_naive(out, a):
    """out = a.T, reading along rows and writing along columns"""
    x, y = cuda.grid(2)
    out[x, y] = a[y, x]


@cuda.jit
def transpose_tiled(out, a):
    """out = a.T through a shared tile whose columns lie in one bank each"""
    tile = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    tile[y, x] = a[top + y, left + x]
    cuda.syncthreads()
    out[left + y, top + x] = tile[x, y]


@cuda.jit
def transpose_padded(out, a):
    """out = a.T through a shared tile with one more column, so that columns spread over banks"""
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
def tree_sum(out, a):
    """out[block] = the sum of the block's 256 cells of a"""
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    part[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    stride = 128
    while stride > 0:
        if t < stride:
            part[t] += part[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


@cuda.jit
def parity(out, a):
    """out[i] by a loop in even lanes, by another in odd ones: both run, one after the other"""
    i = cuda.grid(1)
    x = a[i]
    if i % 2 == 0:
        for _ in range(8):
            x = x * x + float32(1)
    else:
        for _ in range(8):
            x = x * float32(0.5) - float32(1)
    out[i] = x


@cuda.jit
def two_way_banks(out, a):
    """out[i] = a shared cell 2 t on: two lanes in each even bank, none in the odd ones"""
    s = cuda.shared.array(512, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = a[i]
    s[t + 256] = a[i]
    cuda.syncthreads()
    out[i] = s[2 * t]

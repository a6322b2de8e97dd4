"""The kernels that ragged.py times: a loop over keys that ends where a row does."""

from __future__ import annotations

import math

from numba import cuda, float32

D = 32
WARPS = 4
TILE = 32
PADDED = 33
ALL_LANES = 0xFFFFFFFF
LOWEST = float32(-3.4028234663852886e38)


@cuda.jit
def row_sums(out, x, lengths):
    """A block for each row, its threads side by side; the sum of what the row has."""
    tile = cuda.shared.array(WARPS, float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    total = float32(0)
    for col in range(t, lengths[row] * 128, 128):
        total += x[row, col]
    for step in range(5):
        total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << step)
    if t % 32 == 0:
        tile[t // 32] = total
    cuda.syncthreads()
    if t == 0:
        out[row] = tile[0] + tile[1] + tile[2] + tile[3]


@cuda.jit
def decode(out, q, k, v, lengths):
    """A warp for each sequence: scores key by key, by shuffles, and a running softmax."""
    t = cuda.threadIdx.x
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    query = q[row, lane]
    most = LOWEST
    total = float32(0)
    mixed = float32(0)
    for key in range(lengths[row]):
        score = query * k[key, lane]
        for step in range(5):
            score += cuda.shfl_xor_sync(ALL_LANES, score, 1 << step)
        new = max(most, score)
        scale = math.exp(most - new)
        part = math.exp(score - new)
        total = total * scale + part
        mixed = mixed * scale + part * v[key, lane]
        most = new
    out[row, lane] = mixed / total


@cuda.jit
def tiles_of_keys(out, q, k, v, lengths):
    """Four queries of a sequence to a block: tiles of 32 keys in shared memory, flash attention."""
    keys = cuda.shared.array((TILE, PADDED), float32)
    values = cuda.shared.array((TILE, PADDED), float32)
    queries = cuda.shared.array((WARPS, D), float32)
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    row = cuda.blockIdx.x * WARPS + warp
    length = lengths[cuda.blockIdx.x]
    queries[warp, lane] = q[row, lane]
    most = LOWEST
    total = float32(0)
    mixed = float32(0)
    for start in range(0, length, TILE):
        for j in range(warp, TILE, WARPS):
            here = start + j < length
            keys[j, lane] = k[start + j, lane] if here else float32(0)
            values[j, lane] = v[start + j, lane] if here else float32(0)
        cuda.syncthreads()
        score = float32(0)
        for c in range(D):
            score += queries[warp, c] * keys[lane, c]
        if start + lane >= length:
            score = LOWEST
        new = max(most, score)
        for step in range(5):
            new = max(new, cuda.shfl_xor_sync(ALL_LANES, new, 1 << step))
        scale = math.exp(most - new)
        part = math.exp(score - new)
        most = new
        whole = part
        for step in range(5):
            whole += cuda.shfl_xor_sync(ALL_LANES, whole, 1 << step)
        total = total * scale + whole
        mixed = mixed * scale
        for j in range(TILE):
            mixed += cuda.shfl_sync(ALL_LANES, part, j) * values[j, lane]
        cuda.syncthreads()
    out[row, lane] = mixed / total

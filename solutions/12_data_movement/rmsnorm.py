"""rmsnorm: a row kept while its size is found.

    rmsnorm(out, x, weight, cols, eps)

    out     float32 (rows, cols)   to write: x[row, col] * weight[col]
                                   divided by the row's rms
    x       float32 (rows, cols)   to read
    weight  float32 (cols,)        to read
    cols    int                    how many columns there are, at most
                                   TPB * KEPT
    eps     float32                added to the mean of the squares

The rms of a row is sqrt(mean of its squares + eps). Each row has a
block of its own. Each thread writes at most KEPT cells, which lie TPB
columns apart. Each number of x comes from memory once: a thread keeps
its own until the block knows the rms. One barrier is enough. All
arithmetic is float32. There is at least one column. A row with a
NaN or an infinity has NaN in its place: the formula says how.
"""

import math

from numba import cuda, float32, uint32

TPB = 128
WARPS = 4
KEPT = 8
ALL_LANES = 0xFFFFFFFF


@cuda.jit
def rmsnorm(out, x, weight, cols, eps):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    # answer
    kept = cuda.local.array(KEPT, float32)
    total = float32(0)
    # All loads come first: none waits for another.
    for k in range(KEPT):
        col = t + k * TPB
        kept[k] = x[row, col] if col < cols else float32(0)
    for k in range(KEPT):
        total += kept[k] * kept[k]
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    if t % 32 == 0:
        tile[t // 32] = total
    cuda.syncthreads()
    total = tile[0]
    for k in range(1, WARPS):
        total += tile[k]
    size = float32(1) / math.sqrt(total / float32(cols) + eps)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            out[row, col] = kept[k] * size * weight[col]
    # end answer

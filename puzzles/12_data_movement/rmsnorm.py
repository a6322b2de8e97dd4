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
    # your code here (about 22 lines)

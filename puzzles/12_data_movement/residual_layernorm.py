"""residual_layernorm: add, then normalise, each number read once.

    residual_layernorm(out, total, x, residual, weight, bias, cols, eps)

    out       float32 (rows, cols)   to write: (s - mean) * rstd *
                                     weight[col] + bias[col], where s is
                                     total[row, col]
    total     float32 (rows, cols)   to write: x + residual, which the
                                     next layer adds to
    x         float32 (rows, cols)   to read
    residual  float32 (rows, cols)   to read
    weight    float32 (cols,)        to read
    bias      float32 (cols,)        to read
    cols      int                    how many columns there are, at most
                                     TPB * KEPT
    eps       float32                added to the variance

mean and variance are those of the row of total, the variance being the
mean of (s - mean) ** 2, and rstd = 1 / sqrt(variance + eps). Each row
has a block of its own. Each thread writes at most KEPT cells of each
array, which lie TPB columns apart. x and residual are read once, total
is not read at all, and all arithmetic is float32. Rows may lie far from
0: the mean of the squares less the square of the mean has no right
digit there. There is at least one column. A NaN or an infinity of x or
residual goes into its cell of total, and makes NaN of its row of out.
"""

import math

from numba import cuda, float32, uint32

TPB = 128
WARPS = 4
KEPT = 8
ALL_LANES = 0xFFFFFFFF


@cuda.jit
def residual_layernorm(
    out,
    total,
    x,
    residual,
    weight,
    bias,
    cols,
    eps,
):
    tile = cuda.shared.array((3, WARPS), float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    # your code here (about 48 lines)

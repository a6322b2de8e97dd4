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
    # answer
    kept = cuda.local.array(KEPT, float32)
    count = float32(0)
    mean = float32(0)
    spread = float32(0)
    # All loads come first: none waits for another.
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            kept[k] = x[row, col] + residual[row, col]
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            total[row, col] = kept[k]
            # Welford: the mean moves by its share of what is new. The
            # share is a constant, since the loop is unrolled.
            away = kept[k] - mean
            mean += away * (float32(1) / float32(k + 1))
            spread += away * (kept[k] - mean)
            count += float32(1)
    offset = 16
    while offset > 0:
        n = cuda.shfl_xor_sync(ALL_LANES, count, offset)
        other = cuda.shfl_xor_sync(ALL_LANES, mean, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, spread, offset)
        share = n / max(count + n, float32(1))
        away = other - mean
        spread += more + away * away * count * share
        mean += away * share
        count += n
        offset //= 2
    if t % 32 == 0:
        tile[0, t // 32] = count
        tile[1, t // 32] = mean
        tile[2, t // 32] = spread
    cuda.syncthreads()
    count = tile[0, 0]
    mean = tile[1, 0]
    spread = tile[2, 0]
    for k in range(1, WARPS):
        n = tile[0, k]
        share = n / (count + n)
        away = tile[1, k] - mean
        spread += tile[2, k] + away * away * count * share
        mean += away * share
        count += n
    rstd = float32(1) / math.sqrt(spread / count + eps)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            away = (kept[k] - mean) * rstd
            out[row, col] = away * weight[col] + bias[col]
    # end answer

"""cross_entropy: loss and gradient in two reads and a write.

    cross_entropy(loss, logits, target, cols, share)

    loss    float32 (rows,)        to write: log of the sum of
                                   exp(logits[row, col]) over the row,
                                   less logits[row, target[row]]
    logits  float32 (rows, cols)   to read; in the end each holds its
                                   gradient: share * (p - 1) at the
                                   target and share * p elsewhere
    target  int32 (rows,)          to read: the right column of each row
    cols    int                    how many columns there are
    share   float32                what a row counts in the batch's loss

p is exp(logits[row, col]) divided by the row's sum of exponentials.
Each row has a block of its own, which may have fewer threads than the
row has columns. Each thread changes every TPB-th column of the row, and
one of them writes the loss. Each number is read twice and written once,
and all arithmetic is float32. No exponential may overflow, so the
largest number of the row has to be known; that takes no third reading.

There is at least one column, and no row has a NaN or nothing but minus
infinity.
"""

import math

from numba import cuda, float32, uint32

TPB = 128
WARPS = 4
ALL_LANES = 0xFFFFFFFF
# answer
LOWEST = float32(-3.4028234663852886e38)
NOTHING = float32(-math.inf)
AT_ONCE = 4
# end answer


@cuda.jit
def cross_entropy(loss, logits, target, cols, share):
    tile = cuda.shared.array((2, WARPS), float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    # answer
    most = LOWEST
    part = float32(0)
    x = cuda.local.array(AT_ONCE, float32)
    for start in range(t, cols, AT_ONCE * TPB):
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            x[k] = logits[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, x[k])
        part *= math.exp(most - new)
        for k in range(AT_ONCE):
            part += math.exp(x[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, part, offset)
        new = max(most, other)
        part = part * math.exp(most - new) + more * math.exp(other - new)
        most = new
        offset //= 2
    if t % 32 == 0:
        tile[0, t // 32] = most
        tile[1, t // 32] = part
    right = target[row]
    aim = logits[row, right]
    cuda.syncthreads()
    most = tile[0, 0]
    part = tile[1, 0]
    for k in range(1, WARPS):
        other = tile[0, k]
        new = max(most, other)
        part = part * math.exp(most - new)
        part += tile[1, k] * math.exp(other - new)
        most = new
    if t == 0:
        loss[row] = math.log(part) + most - aim
    scale = share / part
    for start in range(t, cols, AT_ONCE * TPB):
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            x[k] = logits[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            slope = scale * math.exp(x[k] - most)
            if col == right:
                slope -= share
            if col < cols:
                logits[row, col] = slope
    # end answer

"""softmax: shares of 1, a row for each warp.

    softmax(out, x, rows, cols)

    out         float32 (rows, cols)   to write: exp(x[row, col])
                                       divided by the sum of exp(x)
                                       over the row
    x           float32 (rows, cols)   to read; x is -inf where a place
                                       is shut out
    rows, cols  int                    how many there are

A block has WARPS warps, and each warp has a row of its own: no warp
waits for another. Each thread writes every 32nd column of its row. No
exponential may overflow, so the row's largest number is taken away
first: a row is read three times at most. It is written once. All
arithmetic is float32.

There is at least one row and one column. A place that is shut out has a
share of 0. Where a row has no other places, all its shares are 0: there
is nothing to share among. A row that has a NaN or plus infinity is NaN
throughout.
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
def softmax(out, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    # answer
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            most = max(most, own[k])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
        offset //= 2
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            total += math.exp(own[k] - most)
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    scale = float32(1) / (total if total != float32(0) else float32(1))
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            if col < cols:
                out[row, col] = math.exp(own[k] - most) * scale
    # end answer

"""softmax_online: the same shares, with one reading less.

    softmax_online(out, lse, x, rows, cols)

    out         float32 (rows, cols)   to write: exp(x[row, col])
                                       divided by the sum of exp(x)
                                       over the row
    lse         float32 (rows,)        to write: the log of that sum
    x           float32 (rows, cols)   to read; x is -inf where a place
                                       is shut out
    rows, cols  int                    how many there are

A block has WARPS warps, and each warp has a row of its own: no warp
waits for another. Each thread writes every 32nd column of its row, and
one of them writes lse. A row is read twice at most, and once where you
keep it; it is written once. No exponential may overflow. All arithmetic
is float32.

There is at least one row and one column. A place that is shut out has a
share of 0. Where a row has no other places, all its shares are 0, and
lse is minus infinity. A row that has a NaN or plus infinity is NaN
throughout, and so is its lse.
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
def softmax_online(out, lse, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    # answer
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, own[k])
        total *= math.exp(most - new)
        for k in range(AT_ONCE):
            total += math.exp(own[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, total, offset)
        new = max(most, other)
        total *= math.exp(most - new)
        total += more * math.exp(other - new)
        most = new
        offset //= 2
    log = NOTHING
    scale = float32(0)
    if total != float32(0):
        log = most + math.log(total)
        scale = float32(1) / total
    if lane == 0:
        lse[row] = log
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            if col < cols:
                out[row, col] = math.exp(own[k] - most) * scale
    # end answer

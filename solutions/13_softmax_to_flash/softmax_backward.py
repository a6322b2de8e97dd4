"""softmax_backward: what the shares pass back, each read once.

    softmax_backward(dx, y, dy, cols)

    dx    float32 (rows, cols)   to write: y * (dy - s), where s is the
                                 sum of y * dy over the row
    y     float32 (rows, cols)   to read: what softmax gave
    dy    float32 (rows, cols)   to read: the gradient of y
    cols  int                    how many columns there are

Each row has a block of its own, and each thread writes every TPB-th
column of its row. Where a row has at most TPB * KEPT columns, each
number of y and of dy comes from memory once: a thread keeps its own
until the block knows s. A longer row may be read twice. dx is written
once. All arithmetic is float32.

There is at least one column. A row with a NaN or an infinity has NaN in
its place: the formula says how, and 0 times infinity is NaN.
"""

from numba import cuda, float32, uint32

TPB = 128
WARPS = 4
KEPT = 8
ALL_LANES = 0xFFFFFFFF


@cuda.jit
def softmax_backward(dx, y, dy, cols):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    # answer
    own = cuda.local.array(KEPT, float32)
    slope = cuda.local.array(KEPT, float32)
    # All loads come first: none waits for another.
    for k in range(KEPT):
        col = t + k * TPB
        own[k] = y[row, col] if col < cols else float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        slope[k] = dy[row, col] if col < cols else float32(0)
    total = float32(0)
    for k in range(KEPT):
        total += own[k] * slope[k]
    for start in range(t + KEPT * TPB, cols, TPB):
        col = uint32(start)
        total += y[row, col] * dy[row, col]
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
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            dx[row, col] = own[k] * (slope[k] - total)
    for start in range(t + KEPT * TPB, cols, TPB):
        col = uint32(start)
        dx[row, col] = y[row, col] * (dy[row, col] - total)
    # end answer

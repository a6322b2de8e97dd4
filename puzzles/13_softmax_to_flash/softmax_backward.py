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
    # your code here (about 31 lines)

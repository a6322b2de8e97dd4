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
# your code here (about 3 lines)


@cuda.jit
def cross_entropy(loss, logits, target, cols, share):
    tile = cuda.shared.array((2, WARPS), float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    # your code here (about 50 lines)

"""softmax_row_max: what softmax needs to know of each row.

    softmax_row_max(largest, total, a, cols)

    largest  float32 (rows,)         to write: the largest number of
                                     each row
    total    float32 (rows,)         to write: the sum of
                                     exp(a[row, col] - largest[row])
                                     over the row
    a        float32 (rows, cols)    to read
    cols     int                     how many columns there are, any
                                     number

Each row has a block of its own, which may have fewer threads than the
row has columns. Each thread writes at most one cell of each array, and
all but one write none. There are two reductions, and the tile, with a
place for each warp, is used for both: all threads need the result of
the first. Three barriers are enough. Loads are in order, and all
arithmetic is float32.

There is at least one column, no NaN and no positive infinity. A minus
infinity adds 0 to the total, and stands in column 0 only where the row
has nothing else: then its largest number is minus infinity, and its
total is NaN.
"""

import math

from numba import cuda, float32

TPB = 128
WARPS = 4
ALL_LANES = 0xFFFFFFFF


@cuda.jit
def softmax_row_max(largest, total, a, cols):
    tile = cuda.shared.array(WARPS, float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    # your code here (about 28 lines)

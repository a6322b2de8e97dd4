"""argmax: where the largest number of each row stands.

    argmax(out, a, cols)

    out   int32 (rows,)          to write: out[row] = the column of the
                                 largest number of the row
    a     float32 (rows, cols)   to read
    cols  int                    how many columns there are, any number

Each row has a block of its own. Each thread writes at most one cell,
and all but one write none; one barrier is enough. Of equal numbers the
first counts. A NaN counts as minus infinity, so it is passed over where
there is any number at all; a row with nothing else gives column 0.
Loads are in order, and all arithmetic is float32.

There is at least one column. Infinities are numbers like any other, and
of two numbers that hardly differ the larger one wins.
"""

import math

from numba import cuda, float32, int32

TPB = 128
WARPS = 4
ALL_LANES = 0xFFFFFFFF


@cuda.jit
def argmax(out, a, cols):
    numbers = cuda.shared.array(WARPS, float32)
    places = cuda.shared.array(WARPS, int32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    # your code here (about 27 lines)

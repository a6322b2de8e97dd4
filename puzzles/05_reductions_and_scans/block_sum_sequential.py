"""block_sum_sequential: the tree again, and no warp diverges.

    block_sum_sequential(out, a, size)

    out   float32 (blocks,)   to write: out[b] = the sum of the cells of
                              a that block b has
    a     float32 (size,)     to read; block b has the cells from
                              b * SPAN on, SPAN of them or what is left
    size  int                 how many cells there are

A block has twice as many cells as threads: each thread adds two of them
before the first goes into the tile. Which threads work in a step, and
which cells they add, is yours to choose, but no warp may diverge except
the last one at work, and no lane may wait for another lane's bank.
Loads are in order, and all arithmetic is float32. Each thread writes at
most one cell of out, and most of them none.

size is 1 or more. NaN and infinities count as in any sum, each in its
own piece and in no other.
"""

from numba import cuda, float32

TPB = 128
SPAN = 256
ALL_LANES = 0xFFFFFFFF


@cuda.jit
def block_sum_sequential(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * SPAN + t
    # your code here (about 15 lines)

"""block_sum: every block adds up its piece.

    block_sum(out, a, size)

    out   float32 (blocks,)   to write: out[b] = the sum of the cells of
                              a that block b has
    a     float32 (size,)     to read; block b has the cells from
                              b * TPB on, TPB of them or what is left
    size  int                 how many cells there are

Load each number once. Bring the piece into the tile, and let it shrink:
in each step half of the partial sums that are left are added to the
other half. All arithmetic is float32. Each thread writes at most one
cell of out, and most of them none.

size is 1 or more. NaN and infinities count as in any sum, each in its
own piece and in no other.
"""

from numba import cuda, float32

TPB = 128


@cuda.jit
def block_sum(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    # your code here (about 10 lines)

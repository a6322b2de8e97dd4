"""scan_block: the sums up to each number, block by block.

    scan_block(out, a, size)

    out   float32 (size,)   to write: out[i] = the sum of the numbers of
                            i's piece from its first up to a[i]
    a     float32 (size,)   to read
    size  int               how many numbers there are

Each block has a piece of TPB numbers, and the last piece may be
shorter. Each piece is summed up by itself, and each thread writes at
most one cell. At a barrier all warps of a block wait for the slowest: a
block may meet at two and no more.

size is 1 or more. A NaN or an infinity counts in the sums from its
place on, to the end of its piece, and in no other.
"""

from numba import cuda, float32

TPB = 128
WARP = 32
WARPS = 4
FULL = 0xFFFFFFFF


@cuda.jit
def scan_block(out, a, size):
    sums = cuda.shared.array(WARPS, float32)
    i = cuda.grid(1)
    lane = cuda.laneid
    warp = cuda.threadIdx.x // WARP
    # your code here (about 25 lines)

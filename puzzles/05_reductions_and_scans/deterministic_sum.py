"""deterministic_sum: a sum with the same bits every time.

    sum_pieces(parts, a, size, pieces)   any number of blocks
    sum_parts(out, parts, pieces)        one block

    out     float32 (1,)       to write: the sum of all numbers of a
    parts   float32            scratch, a number for each piece and for
                               each block; 0 at first
    a       float32 (size,)    to read
    size    int                how many numbers there are
    pieces  int                how many pieces of PIECE numbers these
                               fill

The two kernels are launched twice, with grids of different size, and
both sums must have the same bits, in whatever order the blocks run.
Stay with float32. Each thread writes at most one cell of out. A thread
has EACH numbers of a piece: let their loads be under way together, and
add them up before the shuffles.

size is 1 or more. An infinity counts as in any sum, and a holds no NaN.
"""

from numba import cuda, float32

TPB = 64
EACH = 8
PIECE = 512
WARP = 32
WARPS = 2
FULL = 0xFFFFFFFF


@cuda.jit
def sum_pieces(parts, a, size, pieces):
    halves = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    # your code here (about 16 lines)


@cuda.jit
def sum_parts(out, parts, pieces):
    halves = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    # your code here (about 12 lines)

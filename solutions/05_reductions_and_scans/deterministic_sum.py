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
    # answer
    for piece in range(cuda.blockIdx.x, pieces, cuda.gridDim.x):
        rest = a[piece * PIECE + t :]
        left = size - piece * PIECE - t
        x = float32(0)
        for k in range(EACH):
            x += rest[k * TPB] if k * TPB < left else float32(0)
        step = WARP // 2
        while step > 0:
            x += cuda.shfl_down_sync(FULL, x, step)
            step //= 2
        if cuda.laneid == 0:
            halves[t // WARP] = x
        cuda.syncthreads()
        if t == 0:
            parts[piece] = halves[0] + halves[1]
        cuda.syncthreads()
    # end answer


@cuda.jit
def sum_parts(out, parts, pieces):
    halves = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    # answer
    x = float32(0)
    for piece in range(t, pieces, TPB):
        x += parts[piece]
    step = WARP // 2
    while step > 0:
        x += cuda.shfl_down_sync(FULL, x, step)
        step //= 2
    if cuda.laneid == 0:
        halves[t // WARP] = x
    cuda.syncthreads()
    if t == 0:
        out[0] = halves[0] + halves[1]
    # end answer

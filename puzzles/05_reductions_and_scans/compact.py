"""compact: the numbers above a limit, close together and in order.

    count_kept(counts, a, low, size)         a block for each piece
    scan_counts(starts, counts, pieces)      one warp; it is given
    place(out, starts, a, low, size)         a block for each piece

    out     float32 (kept,)   to write: the numbers of a that are larger
                              than low, in the order they have in a
    counts  int32 (pieces,)   scratch: how many a piece keeps
    starts  int32 (pieces,)   scratch: how many those before it keep
    a       float32 (size,)   to read
    low     float32           the limit
    size    int               how many numbers there are
    pieces  int               how many pieces of TPB numbers these fill

The first number that is kept comes first, and so on: a stable compact.
Nobody knows beforehand which piece keeps how many. Each thread writes
at most one cell, and looks at the numbers of no other thread.

At least one number is kept. NaN is not larger than any number, so it is
not kept; infinities are numbers like any other.
"""

from numba import cuda, int32

TPB = 64
WARP = 32
WARPS = 2
FULL = 0xFFFFFFFF


@cuda.jit
def count_kept(counts, a, low, size):
    i = cuda.grid(1)
    # your code here (about 4 lines)


@cuda.jit
def scan_counts(starts, counts, pieces):
    lane = cuda.laneid
    before = 0
    for first in range(0, pieces, WARP):
        piece = first + lane
        mine = counts[piece] if piece < pieces else 0
        x = mine
        step = 1
        while step < WARP:
            y = cuda.shfl_up_sync(FULL, x, step)
            if lane >= step:
                x += y
            step *= 2
        if piece < pieces:
            starts[piece] = before + x - mine
        before += cuda.shfl_sync(FULL, x, WARP - 1)


@cuda.jit
def place(out, starts, a, low, size):
    kept = cuda.shared.array(WARPS, int32)
    i = cuda.grid(1)
    warp = cuda.threadIdx.x // WARP
    # your code here (about 11 lines)

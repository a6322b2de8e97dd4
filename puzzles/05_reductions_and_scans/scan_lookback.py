"""scan_lookback: the sums up to each number of an array, in one launch.

    scan_lookback(out, a, size, ticket, state, totals, prefixes)

    out       float32 (size,)   to write: out[i] = a[0] + ... + a[i]
    a         float32 (size,)   to read
    size      int               how many numbers there are
    ticket    int32 (1,)        0 at first: the next tile that is free
    state     int32 (tiles,)    for each tile NOTHING at first, then
                                TOTAL or PREFIX: what the others find
    totals    float32 (tiles,)  scratch: the sum of each tile
    prefixes  float32 (tiles,)  scratch: the sum of each tile and of all
                                tiles before it

There is a block for each tile of TPB numbers, and the GPU starts the
blocks in any order, as many at a time as it has room for. It may hold
one up for long after it has told its total: nobody waits for a prefix
where a total is told.

The scan of a tile is given. You take a tile for the block, make its
total known to the others, find out what all tiles before it add up to,
and make known what that gives. Load each number once. Each thread
writes at most one cell of out.

size is 1 or more. A NaN or an infinity counts in all sums from its
place on, and in none before it.
"""

from numba import cuda, float32, int32

TPB = 64
WARP = 32
WARPS = 2
FULL = 0xFFFFFFFF
NOTHING = 0
TOTAL = 1
PREFIX = 2


@cuda.jit
def scan_lookback(out, a, size, ticket, state, totals, prefixes):
    halves = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    # your code here (about 4 lines)

    # The tile by itself: x is the sum up to this thread's number.
    i = tile * TPB + t
    x = a[i] if i < size else float32(0)
    step = 1
    while step < WARP:
        y = cuda.shfl_up_sync(FULL, x, step)
        if lane >= step:
            x += y
        step *= 2
    if lane == WARP - 1:
        halves[t // WARP] = x
    cuda.syncthreads()
    if t >= WARP:
        x += halves[0]

    # What the others may know, and what this block needs of them.
    # your code here (about 35 lines)

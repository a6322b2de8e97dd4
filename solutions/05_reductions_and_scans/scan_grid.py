"""scan_grid: the sums up to each number of an array, in three launches.

    scan_tiles(out, sums, a, size)       a block for each tile
    scan_sums(sums, tiles)               one block
    add_before(out, sums, size)          a block for each tile

    out    float32 (size,)    to write: out[i] = a[0] + ... + a[i]
    sums   float32 (tiles,)   scratch, for a number per tile
    a      float32 (size,)    to read
    size   int                how many numbers there are
    tiles  int                how many tiles of TPB numbers these fill

Blocks that run at the same time cannot wait for each other, but a
launch begins when the one before it has ended. There may be more tiles
than a block has threads. In each launch, each thread writes at most one
cell of out.

size is 1 or more. A NaN or an infinity counts in all sums from its
place on, and in none before it.
"""

from numba import cuda, float32

TPB = 64
WARP = 32
WARPS = 2
FULL = 0xFFFFFFFF


@cuda.jit
def scan_tiles(out, sums, a, size):
    halves = cuda.shared.array(WARPS, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    # answer
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
    if i < size:
        out[i] = x
    if t == TPB - 1:
        sums[cuda.blockIdx.x] = x
    # end answer


@cuda.jit
def scan_sums(sums, tiles):
    halves = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    # answer
    before = float32(0)
    for first in range(0, tiles, TPB):
        tile = first + t
        x = sums[tile] if tile < tiles else float32(0)
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
        if tile < tiles:
            sums[tile] = before + x
        before += halves[0] + halves[1]
        cuda.syncthreads()
    # end answer


@cuda.jit
def add_before(out, sums, size):
    i = cuda.grid(1)
    # answer
    if i < size and cuda.blockIdx.x > 0:
        out[i] += sums[cuda.blockIdx.x - 1]
    # end answer

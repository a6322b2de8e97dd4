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
    # your code here (about 16 lines)


@cuda.jit
def scan_sums(sums, tiles):
    halves = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    # your code here (about 19 lines)


@cuda.jit
def add_before(out, sums, size):
    i = cuda.grid(1)
    # your code here (about 2 lines)

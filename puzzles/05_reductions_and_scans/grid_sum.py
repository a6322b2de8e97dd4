"""grid_sum: one sum by many blocks, in two launches.

    grid_sum(out, a, size)

    out   float32 (blocks,)   to write: out[b] = the sum of the cells of
                              a that block b took
    a     float32 (size,)     to read
    size  int                 how many cells there are, any number

The kernel is launched twice. The first launch has a fixed number of
blocks for all of the array, and leaves a partial sum for each of them.
The second has one block, gets those partial sums as its `a`, and leaves
the sum of all in out[0].

The threads of the grid read along the array together, each adds up what
it meets, and then the block becomes one number as in `dot`. Each thread
writes at most one cell of out, and most of them none. All sums are
float32. Let each thread have several loads under way that do not wait
for each other: no counter sees that, and a GPU does.

size is 1 or more. NaN and infinities count as in any sum.
"""

from numba import cuda, float32

TPB = 128
WARPS = 4
ALL_LANES = 0xFFFFFFFF


@cuda.jit
def grid_sum(out, a, size):
    tile = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    step = cuda.gridsize(1)
    # your code here (about 18 lines)

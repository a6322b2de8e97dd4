"""dot: the sum of all products, with one barrier.

    dot(out, a, b, size)

    out   float32 (1,)      to write: out[0] = a[0] * b[0] + a[1] * b[1]
                            and so on, to the last cell
    a, b  float32 (size,)   to read
    size  int               how many cells there are, any number

One block of TPB threads does it all. Most of the adding needs no shared
memory: first each thread adds up what it meets, then the lanes of a
warp exchange their sums by shuffles. Only one number of each warp goes
into the tile, so one barrier will do. Loads are in order, and all sums
are float32. Each thread writes at most one cell, and all but one write
none.

size is 1 or more. NaN and infinities count as in any sum, and 0 times
infinity is NaN: no product is left out.
"""

from numba import cuda, float32

TPB = 128
WARPS = 4
ALL_LANES = 0xFFFFFFFF


@cuda.jit
def dot(out, a, b, size):
    tile = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    # your code here (about 14 lines)

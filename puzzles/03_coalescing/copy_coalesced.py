"""copy_coalesced: several cells for each thread, in order.

    copy_coalesced(out, a, size)

    out   float32 (size,)   to write: out[i] = a[i]
    a     float32 (size,)   to read
    size  int               how many cells there are

A block of TPB threads copies a piece of TPB * PER_THREAD neighbouring
cells. Each thread copies at most PER_THREAD cells. In every load and
every store, the lanes of a warp must touch neighbours in memory, and no
more sectors than their bytes need. a may hold NaN and infinities as
well.
"""

from numba import cuda, float32

TPB = 64
PER_THREAD = 4


@cuda.jit
def copy_coalesced(out, a, size):
    # your code here (about 10 lines)
    pass

"""histogram_private: count in shared memory, then add once.

    histogram_private(counts, values, size)

    counts  int32 (BINS,)   to add to: counts[v] grows by the number of
                            cells that hold v
    values  int32 (size,)   to read; all lie in 0 .. BINS - 1
    size    int             how many cells there are, any number

A fixed grid goes over all cells. Each block counts in a table of its
own, in shared memory, and adds that table to counts at the end: it may
add to each bin of counts once. There are more bins than threads; each
thread writes at most four cells of counts, and two are enough. Loads
are in order.

size is 1 or more.
"""

from numba import cuda, int32

TPB = 128
BINS = 200


@cuda.jit
def histogram_private(counts, values, size):
    own = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    # your code here (about 8 lines)

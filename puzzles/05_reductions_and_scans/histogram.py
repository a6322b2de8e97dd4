"""histogram: how often each value occurs.

    histogram(counts, values, size)

    counts  int32 (BINS,)   to add to: counts[v] grows by the number of
                            cells that hold v
    values  int32 (size,)   to read; some lie below 0 or are BINS or
                            more, and belong to no bin
    size    int             how many cells there are

There is a thread for each cell, and a few more. Each value is loaded
once. Many threads may meet at one bin; each thread writes at most one
cell, and which one only the data says. The counts do not begin at 0: an
earlier launch has counted other cells.

A value may be any int32, and size is 1 or more.
"""

from numba import cuda

BINS = 40


@cuda.jit
def histogram(counts, values, size):
    i = cuda.grid(1)
    # your code here (about 4 lines)

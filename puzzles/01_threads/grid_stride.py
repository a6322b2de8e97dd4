"""grid_stride: any size with a fixed grid.

    grid_stride(out, a, b, size)

    out   float32 (size,)   to write: out[i] = a[i] - b[i]
    a, b  float32 (size,)   to read
    size  int               how many cells there are

The launch has a fixed number of threads that has nothing to do with
`size`: there may be far more cells than threads, or fewer. Each thread
does as many cells as it takes, no cell is done twice, and the cells are
shared evenly among the threads. a and b may hold NaN and infinities as
well.
"""

from numba import cuda


@cuda.jit
def grid_stride(out, a, b, size):
    # your code here (about 4 lines)
    pass

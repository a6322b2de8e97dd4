"""pooling: the largest of the last WINDOW numbers, in every row.

    pooling(out, a, cols)

    out   float32 (rows, cols)   to write: out[row, col] = the largest
                                 of a[row, col], a[row, col - 1] ...
                                 back to a[row, col - WINDOW + 1], or to
                                 the beginning of the row
    a     float32 (rows, cols)   to read
    cols  int                    how many columns there are, at most TPB

Each row has a block of its own, with at least as many threads as
columns, and each thread writes at most one cell. Every number is wanted
up to WINDOW times, and comes from global memory once. a holds no NaN;
it may hold infinities.
"""

from numba import cuda, float32

TPB = 64
WINDOW = 4


@cuda.jit
def pooling(out, a, cols):
    tile = cuda.shared.array(TPB, float32)
    row = cuda.blockIdx.x
    col = cuda.threadIdx.x
    # your code here (about 8 lines)

"""blocks_2d: a bias for every column.

    blocks_2d(out, a, bias, rows, cols)

    out         float32 (rows, cols)   to write: a[row, col] + bias[col]
    a           float32 (rows, cols)   to read: one example per row, one
                                       feature per column
    bias        float32 (cols,)        to read: one number per feature
    rows, cols  int                    the two sides of a and out

The launch is a grid of (x, y) blocks, each of (x, y) threads, that
covers the array in both directions and may stick out on the right and
at the bottom: x runs along a row. Each thread writes at most one cell.
a and bias may hold NaN and infinities as well.
"""

from numba import cuda


@cuda.jit
def blocks_2d(out, a, bias, rows, cols):
    # your code here (about 3 lines)
    pass

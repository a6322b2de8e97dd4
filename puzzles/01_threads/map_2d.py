"""map_2d: a picture and a block that is larger.

    map_2d(out, a, rows, cols)

    out         float32 (rows, cols)   to write: 1 - a[row, col]
    a           float32 (rows, cols)   to read: a grey picture
    rows, cols  int                    the two sides of the picture

The launch is one block of (x, y) threads with x >= cols and y >= rows:
x runs along a row. Each thread writes at most one cell. a may hold NaN
and infinities as well.
"""

from numba import cuda


@cuda.jit
def map_2d(out, a, rows, cols):
    # your code here (about 4 lines)
    pass

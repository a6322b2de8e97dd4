"""broadcast: a column plus a row.

    broadcast(out, a, b, rows, cols)

    out         float32 (rows, cols)   to write: every sum of a number
                                       of a and one of b
    a           float32 (rows, 1)      to read: a column
    b           float32 (1, cols)      to read: a row
    rows, cols  int                    the two sides of out

In NumPy this is out = a + b. The launch is one block of (x, y) threads
with x >= cols and y >= rows: x runs along a row. Each thread writes at
most one cell. a and b may hold NaN and infinities as well.
"""

from numba import cuda


@cuda.jit
def broadcast(out, a, b, rows, cols):
    # your code here (about 4 lines)
    pass

"""axis_sum: the sum of every row, a warp for each.

    axis_sum(out, a, rows, cols)

    out   float32 (rows,)        to write: out[row] = the sum of
                                 a[row, 0], a[row, 1] ...
    a     float32 (rows, cols)   to read
    rows, cols  int              how many there are, any number

A block is 32 threads wide and ROWS high: thread (x, y) is lane x of the
warp that has row blockIdx.x * ROWS + y. The lanes read along the row in
order and exchange their sums by shuffles; no barrier is needed. Each
thread writes at most one cell, and 31 of 32 write none.

There is at least one column. NaN and infinities count as in any sum,
each in its own row and in no other.
"""

from numba import cuda, float32

ROWS = 4
ALL_LANES = 0xFFFFFFFF


@cuda.jit
def axis_sum(out, a, rows, cols):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * ROWS + cuda.threadIdx.y
    # your code here (about 10 lines)

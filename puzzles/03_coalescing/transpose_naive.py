"""transpose_naive: rows become columns, and one side pays.

    transpose_naive(out, a, rows, cols)

    out   float32 (cols, rows)   to write: out[col, row] = a[row, col]
    a     float32 (rows, cols)   to read
    rows  int                    how many rows a has
    cols  int                    how many columns a has

A block of TILE by THREAD_ROWS threads has a square of TILE by TILE
cells. Each thread writes at most TILE // THREAD_ROWS cells, and what it
writes it has read itself. Let one side at least run in order. a may
hold NaN and infinities as well.
"""

from numba import cuda, float32

TILE = 32
THREAD_ROWS = 8
PER_THREAD = 4


@cuda.jit
def transpose_naive(out, a, rows, cols):
    # your code here (about 11 lines)
    pass

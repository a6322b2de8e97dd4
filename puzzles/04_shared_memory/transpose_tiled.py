"""transpose_tiled: rows become columns, and memory is read and
written in order.

    transpose_tiled(out, a, rows, cols)

    out   float32 (cols, rows)   to write: out[col, row] = a[row, col]
    a     float32 (rows, cols)   to read
    rows  int                    how many rows a has
    cols  int                    how many columns a has

A block of TILE by TILE threads takes a square of a and puts it down as
a square of out, of which each thread writes at most one cell. Rows
become columns in shared memory. Along x, neighbouring threads must
touch neighbours in memory, when they load and when they store. a may
hold NaN and infinities as well.
"""

from numba import cuda, float32

TILE = 32


@cuda.jit
def transpose_tiled(out, a, rows, cols):
    tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE
    top = cuda.blockIdx.y * TILE
    # your code here (about 5 lines)

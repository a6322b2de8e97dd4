"""transpose_padded: the same transposition, and no two
lanes wait for one bank.

    transpose_padded(out, a, rows, cols)

    out   float32 (cols, rows)   to write: out[col, row] = a[row, col]
    a     float32 (rows, cols)   to read
    rows  int                    how many rows a has
    cols  int                    how many columns a has

A block has TILE threads along x and only THREAD_ROWS along y, so each
thread carries four cells of the square: those in rows y, y +
THREAD_ROWS and so on. Global memory is read and written in order. The
tile is yours to lay out. Numba wants a plain name or number for each
side of it: `TILE + 1` within the call is refused. a may hold NaN and
infinities as well.
"""

from numba import cuda, float32

TILE = 32
THREAD_ROWS = 8
# your code here (about 1 line)


@cuda.jit
def transpose_padded(out, a, rows, cols):
    x = cuda.threadIdx.x
    left = cuda.blockIdx.x * TILE
    top = cuda.blockIdx.y * TILE
    # your code here (about 8 lines)

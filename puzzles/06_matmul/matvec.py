"""matvec: a matrix times a vector, a warp for each row.

    matvec(out, a, x, rows, cols)

    out   float32 (rows,)        to write: out[row] is the sum of
                                 a[row, col] * x[col]
    a     float32 (rows, cols)   to read
    x     float32 (cols,)        to read
    rows  int                    how many rows a has
    cols  int                    how many columns a has

A block has 32 threads along x and WARPS along y: the 32 threads with
one threadIdx.y are a warp. Its lanes go along the row together, and
then add up what each has found. Each thread writes at most one cell.
Loads must be in order, and all arithmetic in float32.

There is at least one column. NaN and infinities count as in any sum,
and 0 times infinity is NaN: no product is left out.
"""

from numba import cuda, float32, uint32

WARPS = 4
ALL = 0xFFFFFFFF


@cuda.jit
def matvec(out, a, x, rows, cols):
    lane = uint32(cuda.threadIdx.x)
    row = uint32(cuda.blockIdx.x) * WARPS + uint32(cuda.threadIdx.y)
    # your code here (about 12 lines)

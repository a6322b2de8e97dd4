"""sum_rows: a sum for each row, by a warp.

    sum_rows(out, a, rows, cols)

    out   float32 (rows,)        to write: the sum of each row of a
    a     float32 (rows, cols)   to read
    rows  int                    how many rows a has
    cols  int                    how many columns a has

There is at least one warp of 32 threads for each row. A block has TPB
threads. Each thread writes at most one cell. Neighbouring lanes must
read neighbours in memory: no load may touch more sectors than it has
to. NaN and infinities count as in any sum.
"""

from numba import cuda, float32

TPB = 128
WARP = 32
ALL = 0xFFFFFFFF


@cuda.jit
def sum_rows(out, a, rows, cols):
    # your code here (about 12 lines)
    pass

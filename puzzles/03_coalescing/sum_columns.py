"""sum_columns: a sum for each column.

    sum_columns(out, a, rows, cols)

    out   float32 (cols,)        to write: the sum of each column of a
    a     float32 (rows, cols)   to read
    rows  int                    how many rows a has
    cols  int                    how many columns a has

There is at least one thread for each column, in blocks of 64. Each
thread writes at most one cell. Neighbouring lanes must read neighbours
in memory: no load may touch more sectors than it has to. NaN and
infinities count as in any sum.
"""

from numba import cuda, float32


@cuda.jit
def sum_columns(out, a, rows, cols):
    # your code here (about 10 lines)
    pass

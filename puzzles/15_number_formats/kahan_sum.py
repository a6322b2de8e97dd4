"""kahan_sum: a float32 sum that is as good as its inputs.

    kahan_sum(out, a, rows, size)

    out   float32 (size,)        to write: the sum of column i of a
    a     float32 (rows, size)   to read: say, a gradient for each
                                 part of a batch
    rows  int                    numbers in a column, at least 1
    size  int                    columns

The result may be off by 3e-7 of itself: five roundings of a float32,
however many rows there are. A plain sum in float32 makes one rounding
for each row. No float64: most GPUs have few units for it.

The sizes of the numbers in a column add up to at most twice the size
of its sum. A column with NaN, or with infinities of both signs, has the
sum NaN; one with infinities of one sign has that infinity.

There are blocks of TPB threads and at least one thread for each column;
each thread writes at most one cell.
"""

from numba import cuda, float32

TPB = 64
AHEAD = 4


@cuda.jit
def kahan_sum(out, a, rows, size):
    i = cuda.grid(1)
    # your code here (about 16 lines)

"""no_float64: a kernel that is right, and computes in float64.

    no_float64(out, a, rows, cols)

    out   float32 (rows, cols)   to write: each column of a, less its
                                 mean and divided by its spread
    a     float32 (rows, cols)   to read
    rows  int                    how many rows there are
    cols  int                    how many columns there are

The spread of a column is the root of EPS plus the mean of what its
numbers have after their mean is taken off, squared. A thread has a
column: it writes no cell of any other.

The stub is right. All of its arrays are float32, and still much of its
arithmetic is done in float64. Let none of it be: no operation and no
comparison. No result is off by more than 0.001, and columns may be far
from 0. A NaN or an infinity makes NaN of its own column alone.
"""

import math

from numba import cuda, float32

EPS = 1e-5


@cuda.jit
def no_float64(out, a, rows, cols):
    col = cuda.grid(1)
    if col < cols:
        # mend what follows
        total = 0
        for row in range(rows):
            total += a[row, col]
        mean = total / rows
        squares = 0.0
        for row in range(rows):
            off = a[row, col] - mean
            squares += off**2
        scale = 1 / math.sqrt(squares / rows + EPS)
        for row in range(rows):
            out[row, col] = (a[row, col] - mean) * scale

"""bias_gelu: two operations in one pass.

    bias_gelu(out, x, bias, rows, cols)

    out    float32 (rows, cols)   to write: gelu(x[r, c] + bias[c])
    x      float32 (rows, cols)   to read
    bias   float32 (cols,)        to read
    rows   int                    how many rows there are
    cols   int                    how many columns there are

gelu(v) = v / 2 * (1 + erf(v / sqrt(2))). A block has TPB neighbouring
columns and ROWS rows. Each thread writes at most ROWS cells, all of one
column, and reads its number of the bias once. Each number of x comes
from memory once, nothing goes to memory in between, and all arithmetic
is float32. x and bias may hold NaN and infinities: they go the way of
the formula.
"""

import math

from numba import cuda, float32, uint32

TPB = 64
ROWS = 4
# your code here (about 3 lines)


@cuda.jit
def bias_gelu(out, x, bias, rows, cols):
    col = uint32(cuda.blockIdx.x * TPB + cuda.threadIdx.x)
    first = uint32(cuda.blockIdx.y * ROWS)
    # your code here (about 12 lines)

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
# answer
HALF = float32(0.5)
ONE = float32(1)
ROOT_HALF = float32(0.7071067811865476)
# end answer


@cuda.jit
def bias_gelu(out, x, bias, rows, cols):
    col = uint32(cuda.blockIdx.x * TPB + cuda.threadIdx.x)
    first = uint32(cuda.blockIdx.y * ROWS)
    # answer
    if col < cols:
        shift = bias[col]
        # Four loads that do not wait for each other are in flight.
        kept = cuda.local.array(ROWS, float32)
        for k in range(ROWS):
            row = first + k
            if row < rows:
                kept[k] = x[row, col]
        for k in range(ROWS):
            row = first + k
            if row < rows:
                v = kept[k] + shift
                out[row, col] = HALF * v * (ONE + math.erf(v * ROOT_HALF))
    # end answer

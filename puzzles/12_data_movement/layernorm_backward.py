"""layernorm_backward: sums over rows and over columns, no atomics.

    layernorm_backward(dx, part_w, part_b, dy, x, mean, rstd, weight,
                       rows, cols)

    dx      float32 (rows, cols)     to write: rstd * (g - mean of g -
                                     h * mean of g * h), the means over
                                     the row
    part_w  float32 (strips, cols)   to write: the sums of dy * h over
                                     the rows of a strip
    part_b  float32 (strips, cols)   to write: those of dy
    dy      float32 (rows, cols)     to read: the gradient of the output
    x       float32 (rows, cols)     to read: the input of the layer
    mean    float32 (rows,)          to read: each row's mean
    rstd    float32 (rows,)          to read: one through its deviation
    weight  float32 (cols,)          to read
    rows    int                      how many rows there are
    cols    int                      how many columns there are, at most
                                     TPB * KEPT

    add_strips(dw, db, part_w, part_b, strips, cols)

    dw, db  float32 (cols,)          to write: the sums over all strips

h is (x - mean) * rstd, and g is dy * weight. A strip has ROWS rows and
a block of its own, which goes through them one after the other. Each
thread has at most KEPT columns, which lie TPB columns apart: it writes
these of dx, and adds them up for dw and db. In add_strips, which
is launched next, each thread has one column. x and dy are read once.
There are no atomics, so the sums have the same bits every time, and
all arithmetic is float32. dy may hold NaN and infinities, which make
NaN of their row of dx and go into the sums of their columns; all other
numbers are finite.
"""

from numba import cuda, float32, uint32

TPB = 64
WARPS = 2
KEPT = 4
ROWS = 8
ALL_LANES = 0xFFFFFFFF


@cuda.jit
def layernorm_backward(
    dx,
    part_w,
    part_b,
    dy,
    x,
    mean,
    rstd,
    weight,
    rows,
    cols,
):
    tile = cuda.shared.array((2, 2, WARPS), float32)
    strip = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    # your code here (about 49 lines)


@cuda.jit
def add_strips(dw, db, part_w, part_b, strips, cols):
    # your code here (about 9 lines)
    pass

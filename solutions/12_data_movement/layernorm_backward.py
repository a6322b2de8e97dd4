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
    # answer
    scales = cuda.local.array(KEPT, float32)
    sums_w = cuda.local.array(KEPT, float32)
    sums_b = cuda.local.array(KEPT, float32)
    slopes = cuda.local.array(KEPT, float32)
    g = cuda.local.array(KEPT, float32)
    h = cuda.local.array(KEPT, float32)
    for k in range(KEPT):
        col = t + k * TPB
        scales[k] = weight[col] if col < cols else float32(0)
        sums_w[k] = float32(0)
        sums_b[k] = float32(0)
    share = float32(1) / float32(cols)
    for row in range(strip * ROWS, min((strip + 1) * ROWS, rows)):
        middle = mean[row]
        narrow = rstd[row]
        straight = float32(0)
        along = float32(0)
        for k in range(KEPT):
            col = t + k * TPB
            slopes[k] = dy[row, col] if col < cols else float32(0)
            h[k] = x[row, col] if col < cols else middle
        for k in range(KEPT):
            h[k] = (h[k] - middle) * narrow
            g[k] = slopes[k] * scales[k]
            sums_w[k] += slopes[k] * h[k]
            sums_b[k] += slopes[k]
            straight += g[k]
            along += g[k] * h[k]
        offset = 16
        while offset > 0:
            straight += cuda.shfl_xor_sync(ALL_LANES, straight, offset)
            along += cuda.shfl_xor_sync(ALL_LANES, along, offset)
            offset //= 2
        # Rows take turns with two halves of the tile: a barrier a row.
        half = row % 2
        if t % 32 == 0:
            tile[half, 0, t // 32] = straight
            tile[half, 1, t // 32] = along
        cuda.syncthreads()
        straight = (tile[half, 0, 0] + tile[half, 0, 1]) * share
        along = (tile[half, 1, 0] + tile[half, 1, 1]) * share
        for k in range(KEPT):
            col = t + k * TPB
            if col < cols:
                dx[row, col] = narrow * (g[k] - straight - h[k] * along)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            part_w[strip, col] = sums_w[k]
            part_b[strip, col] = sums_b[k]
    # end answer


@cuda.jit
def add_strips(dw, db, part_w, part_b, strips, cols):
    # answer
    col = cuda.grid(1)
    if col < cols:
        total_w = float32(0)
        total_b = float32(0)
        for strip in range(strips):
            total_w += part_w[strip, col]
            total_b += part_b[strip, col]
        dw[col] = total_w
        db[col] = total_b
    # end answer

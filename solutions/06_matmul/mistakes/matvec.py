"""Wrong answers to matvec that learners give."""

from numba import cuda, float32

WARPS = 4
ALL = 0xFFFFFFFF


# hazard, out-of-bounds: Forgets that the last block has more warps than there are rows.
@cuda.jit
def no_guard(out, a, x, rows, cols):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    total = float32(0)
    for col in range(lane, cols, 32):
        total += a[row, col] * x[col]
    step = 16
    while step > 0:
        total += cuda.shfl_down_sync(ALL, total, step)
        step //= 2
    if lane == 0:
        out[row] = total


# hazard, race: Adds the lanes up and lets all of them write what they have.
@cuda.jit
def every_lane_writes(out, a, x, rows, cols):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if row < rows:
        total = float32(0)
        for col in range(lane, cols, 32):
            total += a[row, col] * x[col]
        step = 16
        while step > 0:
            total += cuda.shfl_down_sync(ALL, total, step)
            step //= 2
        out[row] = total


# hazard, inactive-lane: Lets only the lanes shuffle whose sums still matter.
@cuda.jit
def only_low_lanes_shuffle(out, a, x, rows, cols):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if row < rows:
        total = float32(0)
        for col in range(lane, cols, 32):
            total += a[row, col] * x[col]
        step = 16
        while step > 0:
            if lane < step:
                total += cuda.shfl_down_sync(ALL, total, step)
            step //= 2
        if lane == 0:
            out[row] = total


# wrong-result, own-part: Writes what lane 0 has found.
@cuda.jit
def lanes_never_meet(out, a, x, rows, cols):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if row < rows:
        total = float32(0)
        for col in range(lane, cols, 32):
            total += a[row, col] * x[col]
        if lane == 0:
            out[row] = total


# wrong-result, half-the-lanes: Begins with a step of 8, as if a warp had 16 lanes.
@cuda.jit
def four_steps(out, a, x, rows, cols):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if row < rows:
        total = float32(0)
        for col in range(lane, cols, 32):
            total += a[row, col] * x[col]
        step = 8
        while step > 0:
            total += cuda.shfl_down_sync(ALL, total, step)
            step //= 2
        if lane == 0:
            out[row] = total


# over-budget, over-budget: Cuts the row into 32 pieces, as one would for 32 processors.
@cuda.jit
def a_piece_for_each_lane(out, a, x, rows, cols):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if row < rows:
        piece = (cols + 31) // 32
        total = float32(0)
        for col in range(lane * piece, min(cols, (lane + 1) * piece)):
            total += a[row, col] * x[col]
        step = 16
        while step > 0:
            total += cuda.shfl_down_sync(ALL, total, step)
            step //= 2
        if lane == 0:
            out[row] = total


# over-budget, over-budget: Begins the sum with 0.0, which is a float64.
@cuda.jit
def sum_in_float64(out, a, x, rows, cols):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if row < rows:
        total = 0.0
        for col in range(lane, cols, 32):
            total += a[row, col] * x[col]
        step = 16
        while step > 0:
            total += cuda.shfl_down_sync(ALL, total, step)
            step //= 2
        if lane == 0:
            out[row] = total


# over-budget, not-shared: The first warp of a block makes all the block's rows.
@cuda.jit
def one_warp_for_all_rows(out, a, x, rows, cols):
    lane = cuda.threadIdx.x
    if cuda.threadIdx.y == 0:
        first = cuda.blockIdx.x * WARPS
        for row in range(first, min(rows, first + WARPS)):
            total = float32(0)
            for col in range(lane, cols, 32):
                total += a[row, col] * x[col]
            step = 16
            while step > 0:
                total += cuda.shfl_down_sync(ALL, total, step)
                step //= 2
            if lane == 0:
                out[row] = total


# over-budget, not-shared: Gives a whole row to lane 0.
@cuda.jit
def one_lane_for_a_row(out, a, x, rows, cols):
    row = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if row < rows and cuda.threadIdx.x == 0:
        total = float32(0)
        for col in range(cols):
            total += a[row, col] * x[col]
        out[row] = total

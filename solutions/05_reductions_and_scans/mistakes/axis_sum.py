"""Wrong answers to axis_sum that learners give."""

from numba import cuda, float32

ROWS = 4
ALL_LANES = 0xFFFFFFFF
TPB = 128


# over-budget, over-budget: Gives each lane a stretch of the row of its own.
@cuda.jit
def a_stretch_for_each_lane(out, a, rows, cols):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * ROWS + cuda.threadIdx.y
    if row < rows:
        total = float32(0)
        each = (cols + 31) // 32
        for col in range(lane * each, min(cols, (lane + 1) * each)):
            total += a[row, col]
        offset = 16
        while offset > 0:
            total += cuda.shfl_down_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0:
            out[row] = total


# over-budget, over-budget: A tree in shared memory for every row, with barriers for the whole
# block.
@cuda.jit
def tree_in_shared_memory(out, a, rows, cols):
    tile = cuda.shared.array(TPB, float32)
    lane = cuda.threadIdx.x
    place = cuda.threadIdx.y * 32 + lane
    row = cuda.blockIdx.x * ROWS + cuda.threadIdx.y
    total = float32(0)
    if row < rows:
        for col in range(lane, cols, 32):
            total += a[row, col]
    tile[place] = total
    cuda.syncthreads()
    stride = 16
    while stride > 0:
        if lane < stride:
            tile[place] += tile[place + stride]
        cuda.syncthreads()
        stride //= 2
    if lane == 0 and row < rows:
        out[row] = tile[place]


# wrong-result, columns-left-out: Stops after the first 32 columns.
@cuda.jit
def one_column_for_each_lane(out, a, rows, cols):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * ROWS + cuda.threadIdx.y
    if row < rows:
        total = a[row, lane] if lane < cols else float32(0)
        offset = 16
        while offset > 0:
            total += cuda.shfl_down_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0:
            out[row] = total


# hazard, out-of-bounds: Leaves out the guard of the rows.
@cuda.jit
def rows_unguarded(out, a, rows, cols):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * ROWS + cuda.threadIdx.y
    total = float32(0)
    for col in range(lane, cols, 32):
        total += a[row, col]
    offset = 16
    while offset > 0:
        total += cuda.shfl_down_sync(ALL_LANES, total, offset)
        offset //= 2
    if lane == 0:
        out[row] = total


# hazard, inactive-lane: Shuffles only with the lanes that have a column.
@cuda.jit
def lanes_without_a_column_left_out(out, a, rows, cols):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * ROWS + cuda.threadIdx.y
    if row < rows and lane < cols:
        total = float32(0)
        for col in range(lane, cols, 32):
            total += a[row, col]
        offset = 16
        while offset > 0:
            total += cuda.shfl_down_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0:
            out[row] = total


# hazard, race: Every lane writes what it has, and they meet at one cell.
@cuda.jit
def every_lane_writes(out, a, rows, cols):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * ROWS + cuda.threadIdx.y
    if row < rows:
        total = float32(0)
        for col in range(lane, cols, 32):
            total += a[row, col]
        offset = 16
        while offset > 0:
            total += cuda.shfl_down_sync(ALL_LANES, total, offset)
            offset //= 2
        out[row] = total


# wrong-result, step-missing: One step short: the distances begin at 8.
@cuda.jit
def began_at_eight(out, a, rows, cols):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * ROWS + cuda.threadIdx.y
    if row < rows:
        total = float32(0)
        for col in range(lane, cols, 32):
            total += a[row, col]
        offset = 8
        while offset > 0:
            total += cuda.shfl_down_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0:
            out[row] = total


# over-budget, not-shared: One lane adds up the row.
@cuda.jit
def one_lane_for_a_row(out, a, rows, cols):
    row = cuda.blockIdx.x * ROWS + cuda.threadIdx.y
    if cuda.threadIdx.x == 0 and row < rows:
        total = float32(0)
        for col in range(cols):
            total += a[row, col]
        out[row] = total


# over-budget, over-budget: Begins with a number that is a float64, and adds in float64 from there
# on.
@cuda.jit
def sums_in_float64(out, a, rows, cols):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * ROWS + cuda.threadIdx.y
    if row < rows:
        total = 0.0
        for col in range(lane, cols, 32):
            total += a[row, col]
        offset = 16
        while offset > 0:
            total += cuda.shfl_down_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0:
            out[row] = total

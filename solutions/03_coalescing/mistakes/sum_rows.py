"""Wrong answers to sum_rows that learners give."""

from numba import cuda, float32

TPB = 128
WARP = 32
ALL = 0xFFFFFFFF


# over-budget, over-budget: A thread for a row, as there was one for a column.
@cuda.jit
def a_thread_for_a_row(out, a, rows, cols):
    row = cuda.grid(1)
    if row < rows:
        total = float32(0)
        for col in range(cols):
            total += a[row, col]
        out[row] = total


# over-budget, over-budget: A warp for a row, but each lane has a piece of neighbouring cells.
@cuda.jit
def a_piece_for_each_lane(out, a, rows, cols):
    lane = cuda.laneid
    row = cuda.grid(1) // WARP
    if row < rows:
        piece = (cols + WARP - 1) // WARP
        total = float32(0)
        for col in range(lane * piece, min((lane + 1) * piece, cols)):
            total += a[row, col]
        step = WARP // 2
        while step > 0:
            total += cuda.shfl_down_sync(ALL, total, step)
            step //= 2
        if lane == 0:
            out[row] = total


# wrong-result, not-combined: Leaves the 32 partial sums where they are.
@cuda.jit
def partial_sums_not_combined(out, a, rows, cols):
    lane = cuda.laneid
    row = cuda.grid(1) // WARP
    if row < rows:
        total = float32(0)
        for col in range(lane, cols, WARP):
            total += a[row, col]
        if lane == 0:
            out[row] = total


# wrong-result, half-the-lanes: Begins the exchange at 8: the upper half of the warp is never
# asked.
@cuda.jit
def one_exchange_too_few(out, a, rows, cols):
    lane = cuda.laneid
    row = cuda.grid(1) // WARP
    if row < rows:
        total = float32(0)
        for col in range(lane, cols, WARP):
            total += a[row, col]
        step = WARP // 4
        while step > 0:
            total += cuda.shfl_down_sync(ALL, total, step)
            step //= 2
        if lane == 0:
            out[row] = total


# wrong-result, counted-often: Starts each lane at its own cell and then goes on one by one.
@cuda.jit
def no_step_in_the_loop(out, a, rows, cols):
    lane = cuda.laneid
    row = cuda.grid(1) // WARP
    if row < rows:
        total = float32(0)
        for col in range(lane, cols):
            total += a[row, col]
        step = WARP // 2
        while step > 0:
            total += cuda.shfl_down_sync(ALL, total, step)
            step //= 2
        if lane == 0:
            out[row] = total


# hazard, race: Lets every lane write, though only lane 0 has the whole sum.
@cuda.jit
def every_lane_writes(out, a, rows, cols):
    lane = cuda.laneid
    row = cuda.grid(1) // WARP
    if row < rows:
        total = float32(0)
        for col in range(lane, cols, WARP):
            total += a[row, col]
        step = WARP // 2
        while step > 0:
            total += cuda.shfl_down_sync(ALL, total, step)
            step //= 2
        out[row] = total


# hazard, race: Takes the number of the warp in its block for the row.
@cuda.jit
def warp_of_the_block(out, a, rows, cols):
    lane = cuda.laneid
    row = cuda.threadIdx.x // WARP
    if row < rows:
        total = float32(0)
        for col in range(lane, cols, WARP):
            total += a[row, col]
        step = WARP // 2
        while step > 0:
            total += cuda.shfl_down_sync(ALL, total, step)
            step //= 2
        if lane == 0:
            out[row] = total


# hazard, inactive-lane: Sends only the lanes that still have something to add into the exchange.
@cuda.jit
def exchange_in_a_branch(out, a, rows, cols):
    lane = cuda.laneid
    row = cuda.grid(1) // WARP
    if row < rows:
        total = float32(0)
        for col in range(lane, cols, WARP):
            total += a[row, col]
        step = WARP // 2
        while step > 0:
            if lane < step:
                total += cuda.shfl_down_sync(ALL, total, step)
            step //= 2
        if lane == 0:
            out[row] = total


# hazard, out-of-bounds: Forgets that the last block has more warps than there are rows.
@cuda.jit
def no_guard(out, a, rows, cols):
    lane = cuda.laneid
    row = cuda.grid(1) // WARP
    total = float32(0)
    for col in range(lane, cols, WARP):
        total += a[row, col]
    step = WARP // 2
    while step > 0:
        total += cuda.shfl_down_sync(ALL, total, step)
        step //= 2
    if lane == 0:
        out[row] = total


# over-budget, not-shared: The first thread adds up every row.
@cuda.jit
def one_thread_for_all_rows(out, a, rows, cols):
    if cuda.grid(1) == 0:
        for row in range(rows):
            total = float32(0)
            for col in range(cols):
                total += a[row, col]
            out[row] = total

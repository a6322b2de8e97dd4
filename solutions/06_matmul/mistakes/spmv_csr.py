"""Wrong answers to spmv_csr that learners give."""

from numba import cuda, float32

WARPS = 4
ALL = 0xFFFFFFFF


# hazard, out-of-bounds: Forgets that the last block has more warps than there are rows.
@cuda.jit
def no_guard(out, values, columns, starts, x, rows):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    total = float32(0)
    for e in range(starts[row] + lane, starts[row + 1], 32):
        total += values[e] * x[columns[e]]
    step = 16
    while step > 0:
        total += cuda.shfl_down_sync(ALL, total, step)
        step //= 2
    if lane == 0:
        out[row] = total


# hazard, race: Adds the lanes up and lets all of them write what they have.
@cuda.jit
def every_lane_writes(out, values, columns, starts, x, rows):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if row < rows:
        total = float32(0)
        for e in range(starts[row] + lane, starts[row + 1], 32):
            total += values[e] * x[columns[e]]
        step = 16
        while step > 0:
            total += cuda.shfl_down_sync(ALL, total, step)
            step //= 2
        out[row] = total


# wrong-result, own-part: Writes what lane 0 has found.
@cuda.jit
def lanes_never_meet(out, values, columns, starts, x, rows):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if row < rows:
        total = float32(0)
        for e in range(starts[row] + lane, starts[row + 1], 32):
            total += values[e] * x[columns[e]]
        if lane == 0:
            out[row] = total


# wrong-result, one-short: Takes the end of a row for its last entry.
@cuda.jit
def one_entry_short(out, values, columns, starts, x, rows):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if row < rows:
        total = float32(0)
        for e in range(starts[row] + lane, starts[row + 1] - 1, 32):
            total += values[e] * x[columns[e]]
        step = 16
        while step > 0:
            total += cuda.shfl_down_sync(ALL, total, step)
            step //= 2
        if lane == 0:
            out[row] = total


# wrong-result, empty-rows: Sees nothing to do in an empty row.
@cuda.jit
def skips_empty_rows(out, values, columns, starts, x, rows):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if row < rows and starts[row] < starts[row + 1]:
        total = float32(0)
        for e in range(starts[row] + lane, starts[row + 1], 32):
            total += values[e] * x[columns[e]]
        step = 16
        while step > 0:
            total += cuda.shfl_down_sync(ALL, total, step)
            step //= 2
        if lane == 0:
            out[row] = total


# wrong-result, zero-times-nan: Lets all lanes take as many steps, and multiplies by 0 where a
# lane has no entry.
@cuda.jit
def zero_times_any_x(out, values, columns, starts, x, rows):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if row < rows:
        total = float32(0)
        end = starts[row + 1]
        for first in range(starts[row], end, 32):
            e = first + lane
            value = values[e] if e < end else float32(0)
            column = columns[e] if e < end else 0
            total += value * x[column]
        step = 16
        while step > 0:
            total += cuda.shfl_down_sync(ALL, total, step)
            step //= 2
        if lane == 0:
            out[row] = total


# wrong-result, by-entry: Takes x in the order of the entries.
@cuda.jit
def x_by_entry(out, values, columns, starts, x, rows):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if row < rows:
        total = float32(0)
        for e in range(starts[row] + lane, starts[row + 1], 32):
            total += values[e] * x[(e - starts[row]) % len(x)]
        step = 16
        while step > 0:
            total += cuda.shfl_down_sync(ALL, total, step)
            step //= 2
        if lane == 0:
            out[row] = total


# over-budget, over-budget: Cuts the row into 32 pieces, as one would for 32 processors.
@cuda.jit
def a_piece_for_each_lane(out, values, columns, starts, x, rows):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if row < rows:
        total = float32(0)
        piece = (starts[row + 1] - starts[row] + 31) // 32
        first = starts[row] + lane * piece
        for e in range(first, min(first + piece, starts[row + 1])):
            total += values[e] * x[columns[e]]
        step = 16
        while step > 0:
            total += cuda.shfl_down_sync(ALL, total, step)
            step //= 2
        if lane == 0:
            out[row] = total


# over-budget, not-shared: The first warp of a block makes all the block's rows.
@cuda.jit
def one_warp_for_all_rows(out, values, columns, starts, x, rows):
    lane = cuda.threadIdx.x
    if cuda.threadIdx.y == 0:
        first = cuda.blockIdx.x * WARPS
        for row in range(first, min(rows, first + WARPS)):
            total = float32(0)
            for e in range(starts[row] + lane, starts[row + 1], 32):
                total += values[e] * x[columns[e]]
            step = 16
            while step > 0:
                total += cuda.shfl_down_sync(ALL, total, step)
                step //= 2
            if lane == 0:
                out[row] = total


# over-budget, over-budget: Begins the sum with 0.0, which is a float64.
@cuda.jit
def sum_in_float64(out, values, columns, starts, x, rows):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if row < rows:
        total = 0.0
        for e in range(starts[row] + lane, starts[row + 1], 32):
            total += values[e] * x[columns[e]]
        step = 16
        while step > 0:
            total += cuda.shfl_down_sync(ALL, total, step)
            step //= 2
        if lane == 0:
            out[row] = total

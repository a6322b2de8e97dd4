"""Wrong answers to softmax that learners give."""

import math

from numba import cuda, float32, uint32

TPB = 128
WARPS = 4
ALL_LANES = 0xFFFFFFFF
LOWEST = float32(-3.4028234663852886e38)
NOTHING = float32(-math.inf)
AT_ONCE = 4


# over-budget, done-again: Each lane finds the largest and the sum of its row for itself.
@cuda.jit
def each_lane_alone(out, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row < rows:
        most = LOWEST
        for col in range(cols):
            most = max(most, x[row, col])
        total = float32(0)
        for col in range(cols):
            total += math.exp(x[row, col] - most)
        if total == float32(0):
            total = float32(1)
        for col in range(lane, cols, 32):
            out[row, col] = math.exp(x[row, col] - most) / total


# over-budget, over-budget: Writes the exponentials to out, and divides them there.
@cuda.jit
def shares_written_twice(out, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row < rows:
        most = LOWEST
        for col in range(lane, cols, 32):
            most = max(most, x[row, col])
        offset = 16
        while offset > 0:
            most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
            offset //= 2
        total = float32(0)
        for col in range(lane, cols, 32):
            part = math.exp(x[row, col] - most)
            out[row, col] = part
            total += part
        offset = 16
        while offset > 0:
            total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
            offset //= 2
        if total == float32(0):
            total = float32(1)
        for col in range(lane, cols, 32):
            out[row, col] /= total


# wrong-result, overflow: Takes the exponentials as they are.
@cuda.jit
def nothing_taken_away(out, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            most = max(most, own[k])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
        offset //= 2
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            total += math.exp(own[k])
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    scale = float32(1) / (total if total != float32(0) else float32(1))
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            if col < cols:
                out[row, col] = math.exp(own[k]) * scale


# wrong-result, began-at-zero: Begins with zero, which no number below it beats.
@cuda.jit
def began_at_zero(out, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            most = max(most, own[k])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
        offset //= 2
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            total += math.exp(own[k] - most)
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    scale = float32(1) / (total if total != float32(0) else float32(1))
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            if col < cols:
                out[row, col] = math.exp(own[k] - most) * scale


# wrong-result, largest-of-a-lane: Only lane 0 knows the largest, and all go on with theirs.
@cuda.jit
def largest_of_the_lane(out, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            most = max(most, own[k])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_down_sync(ALL_LANES, most, offset))
        offset //= 2
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            total += math.exp(own[k] - most)
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    scale = float32(1) / (total if total != float32(0) else float32(1))
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            if col < cols:
                out[row, col] = math.exp(own[k] - most) * scale


# wrong-result, sum-of-a-lane: Each lane divides by the sum of its own columns.
@cuda.jit
def sum_of_the_lane(out, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            most = max(most, own[k])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
        offset //= 2
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            total += math.exp(own[k] - most)
    scale = float32(1) / (total if total != float32(0) else float32(1))
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            if col < cols:
                out[row, col] = math.exp(own[k] - most) * scale


# wrong-result, empty-row: Begins with minus infinity, and takes it from minus infinity.
@cuda.jit
def began_at_minus_infinity(out, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = NOTHING
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            most = max(most, own[k])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
        offset //= 2
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            total += math.exp(own[k] - most)
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    scale = float32(1) / (total if total != float32(0) else float32(1))
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            if col < cols:
                out[row, col] = math.exp(own[k] - most) * scale


# wrong-result, empty-row: Divides by the sum of a row that has nothing to add up.
@cuda.jit
def divides_by_nothing(out, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            most = max(most, own[k])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
        offset //= 2
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            total += math.exp(own[k] - most)
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    scale = float32(1) / total
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            if col < cols:
                out[row, col] = math.exp(own[k] - most) * scale


# wrong-result, nan-lost: Takes every sum that is not above 0 for one of an empty row.
@cuda.jit
def nan_is_nothing(out, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            most = max(most, own[k])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
        offset //= 2
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            total += math.exp(own[k] - most)
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    scale = float32(1) / total if total > float32(0) else float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            part = math.exp(own[k] - most) if scale > float32(0) else float32(0)
            if col < cols:
                out[row, col] = part * scale


# wrong-result, counts-places: Lets places past the end count as the largest number.
@cuda.jit
def places_counted(out, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            most = max(most, own[k])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
        offset //= 2
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else most
        for k in range(AT_ONCE):
            total += math.exp(own[k] - most)
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    scale = float32(1) / (total if total != float32(0) else float32(1))
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            if col < cols:
                out[row, col] = math.exp(own[k] - most) * scale


# wrong-result, wrong-axis: Adds up a column where it should add up a row.
@cuda.jit
def over_the_rows(out, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row < rows:
        for col in range(lane, cols, 32):
            most = LOWEST
            for k in range(rows):
                most = max(most, x[k, col])
            total = float32(0)
            for k in range(rows):
                total += math.exp(x[k, col] - most)
            if total == float32(0):
                total = float32(1)
            out[row, col] = math.exp(x[row, col] - most) / total


# hazard, out-of-bounds: Takes the last block for a full one.
@cuda.jit
def no_guard_for_rows(out, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            most = max(most, own[k])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
        offset //= 2
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            total += math.exp(own[k] - most)
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    scale = float32(1) / (total if total != float32(0) else float32(1))
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            if col < cols:
                out[row, col] = math.exp(own[k] - most) * scale


# wrong-result, tail-unwritten: Goes over whole warps of columns alone.
@cuda.jit
def tail_left_out(out, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            most = max(most, own[k])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
        offset //= 2
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            total += math.exp(own[k] - most)
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    scale = float32(1) / (total if total != float32(0) else float32(1))
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            if col < cols // 32 * 32:
                out[row, col] = math.exp(own[k] - most) * scale


# over-budget, over-budget: Gives each lane columns that lie side by side.
@cuda.jit
def columns_side_by_side(out, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row < rows:
        each = (cols + 31) // 32
        last = min(cols, (lane + 1) * each)
        most = LOWEST
        for col in range(lane * each, last):
            most = max(most, x[row, col])
        offset = 16
        while offset > 0:
            most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
            offset //= 2
        total = float32(0)
        for col in range(lane * each, last):
            total += math.exp(x[row, col] - most)
        offset = 16
        while offset > 0:
            total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
            offset //= 2
        if total == float32(0):
            total = float32(1)
        for col in range(lane * each, last):
            out[row, col] = math.exp(x[row, col] - most) / total


# over-budget, over-budget: Reduces by trees in shared memory, with a barrier for each step.
@cuda.jit
def through_a_tile(out, x, rows, cols):
    tile = cuda.shared.array((WARPS, 32), float32)
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    warp = t // 32
    row = cuda.blockIdx.x * WARPS + warp
    most = LOWEST
    if row < rows:
        for col in range(lane, cols, 32):
            most = max(most, x[row, col])
    tile[warp, lane] = most
    cuda.syncthreads()
    step = 16
    while step > 0:
        if lane < step:
            tile[warp, lane] = max(tile[warp, lane], tile[warp, lane + step])
        cuda.syncthreads()
        step //= 2
    most = tile[warp, 0]
    cuda.syncthreads()
    total = float32(0)
    if row < rows:
        for col in range(lane, cols, 32):
            total += math.exp(x[row, col] - most)
    tile[warp, lane] = total
    cuda.syncthreads()
    step = 16
    while step > 0:
        if lane < step:
            tile[warp, lane] += tile[warp, lane + step]
        cuda.syncthreads()
        step //= 2
    total = tile[warp, 0]
    if total == float32(0):
        total = float32(1)
    if row < rows:
        for col in range(lane, cols, 32):
            out[row, col] = math.exp(x[row, col] - most) / total


# over-budget, over-budget: Gives the exponential a float64, and all that follows.
@cuda.jit
def in_float64(out, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            most = max(most, own[k])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
        offset //= 2
    total = 0.0
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            total += math.exp(1.0 * (own[k] - most))
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    scale = 1 / (total if total != 0 else 1.0)
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            if col < cols:
                out[row, col] = math.exp(own[k] - most) * scale


# over-budget, not-shared: The first lane of each warp does the whole row.
@cuda.jit
def one_lane(out, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    row = cuda.blockIdx.x * WARPS + t // 32
    if row < rows and t % 32 == 0:
        most = LOWEST
        for col in range(cols):
            most = max(most, x[row, col])
        total = float32(0)
        for col in range(cols):
            total += math.exp(x[row, col] - most)
        if total == float32(0):
            total = float32(1)
        for col in range(cols):
            out[row, col] = math.exp(x[row, col] - most) / total


# wrong-result, zeros-count: Puts zeros past the end of the row, which add nothing to a sum.
@cuda.jit
def padded_with_zeros(out, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else float32(0)
        for k in range(AT_ONCE):
            most = max(most, own[k])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
        offset //= 2
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else float32(0)
        for k in range(AT_ONCE):
            total += math.exp(own[k] - most)
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    scale = float32(1) / (total if total != float32(0) else float32(1))
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else float32(0)
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            if col < cols:
                out[row, col] = math.exp(own[k] - most) * scale

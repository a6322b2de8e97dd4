"""Wrong answers to softmax_online that learners give."""

import math

from numba import cuda, float32, uint32

TPB = 128
WARPS = 4
ALL_LANES = 0xFFFFFFFF
LOWEST = float32(-3.4028234663852886e38)
NOTHING = float32(-math.inf)
AT_ONCE = 4


# over-budget, over-budget: Looks for the largest number first, on a way of its own.
@cuda.jit
def three_readings(out, lse, x, rows, cols):
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
            total += math.exp(x[row, col] - most)
        offset = 16
        while offset > 0:
            total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0:
            lse[row] = most + math.log(total) if total != float32(0) else NOTHING
        if total == float32(0):
            total = float32(1)
        for col in range(lane, cols, 32):
            out[row, col] = math.exp(x[row, col] - most) / total


# over-budget, over-budget: Writes exponentials to out on the way, and puts them right there.
@cuda.jit
def shares_written_twice(out, lse, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row < rows:
        most = LOWEST
        for col in range(lane, cols, 32):
            out[row, col] = x[row, col]
            most = max(most, out[row, col])
        offset = 16
        while offset > 0:
            most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
            offset //= 2
        total = float32(0)
        for col in range(lane, cols, 32):
            out[row, col] = math.exp(out[row, col] - most)
            total += out[row, col]
        offset = 16
        while offset > 0:
            total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0:
            lse[row] = most + math.log(total) if total != float32(0) else NOTHING
        if total == float32(0):
            total = float32(1)
        for col in range(lane, cols, 32):
            out[row, col] /= total


# wrong-result, not-scaled: Leaves the sum as it was when a larger number comes.
@cuda.jit
def sum_left_as_it_was(out, lse, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, own[k])
        for k in range(AT_ONCE):
            total += math.exp(own[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, total, offset)
        new = max(most, other)
        total *= math.exp(most - new)
        total += more * math.exp(other - new)
        most = new
        offset //= 2
    log = NOTHING
    scale = float32(0)
    if total != float32(0):
        log = most + math.log(total)
        scale = float32(1) / total
    if lane == 0:
        lse[row] = log
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            if col < cols:
                out[row, col] = math.exp(own[k] - most) * scale


# wrong-result, not-scaled: Replaces the maximum before the old sum is scaled by it.
@cuda.jit
def maximum_replaced_too_early(out, lse, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, own[k])
        most = new
        total *= math.exp(most - new)
        for k in range(AT_ONCE):
            total += math.exp(own[k] - new)
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, total, offset)
        new = max(most, other)
        total *= math.exp(most - new)
        total += more * math.exp(other - new)
        most = new
        offset //= 2
    log = NOTHING
    scale = float32(0)
    if total != float32(0):
        log = most + math.log(total)
        scale = float32(1) / total
    if lane == 0:
        lse[row] = log
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            if col < cols:
                out[row, col] = math.exp(own[k] - most) * scale


# wrong-result, scaled-upwards: Takes the old maximum from the new one.
@cuda.jit
def scaled_upwards(out, lse, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, own[k])
        total *= math.exp(new - most) if total > float32(0) else float32(1)
        for k in range(AT_ONCE):
            total += math.exp(own[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, total, offset)
        new = max(most, other)
        total *= math.exp(most - new)
        total += more * math.exp(other - new)
        most = new
        offset //= 2
    log = NOTHING
    scale = float32(0)
    if total != float32(0):
        log = most + math.log(total)
        scale = float32(1) / total
    if lane == 0:
        lse[row] = log
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            if col < cols:
                out[row, col] = math.exp(own[k] - most) * scale


# wrong-result, merged-unscaled: Adds the sums of the lanes as they are.
@cuda.jit
def lanes_merged_as_they_are(out, lse, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, own[k])
        total *= math.exp(most - new)
        for k in range(AT_ONCE):
            total += math.exp(own[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, total, offset)
        new = max(most, other)
        total += more
        most = new
        offset //= 2
    log = NOTHING
    scale = float32(0)
    if total != float32(0):
        log = most + math.log(total)
        scale = float32(1) / total
    if lane == 0:
        lse[row] = log
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            if col < cols:
                out[row, col] = math.exp(own[k] - most) * scale


# wrong-result, maximum-not-carried: Merges downwards, so that only lane 0 knows the row.
@cuda.jit
def maximum_stays_with_its_lane(out, lse, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, own[k])
        total *= math.exp(most - new)
        for k in range(AT_ONCE):
            total += math.exp(own[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_down_sync(ALL_LANES, most, offset)
        more = cuda.shfl_down_sync(ALL_LANES, total, offset)
        new = max(most, other)
        total *= math.exp(most - new)
        total += more * math.exp(other - new)
        most = new
        offset //= 2
    log = NOTHING
    scale = float32(0)
    if total != float32(0):
        log = most + math.log(total)
        scale = float32(1) / total
    if lane == 0:
        lse[row] = log
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            if col < cols:
                out[row, col] = math.exp(own[k] - most) * scale


# wrong-result, maximum-not-carried: Merges the sums and goes on with the lane's own maximum.
@cuda.jit
def sum_without_its_maximum(out, lse, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, own[k])
        total *= math.exp(most - new)
        for k in range(AT_ONCE):
            total += math.exp(own[k] - new)
        most = new
    new = most
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, new, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, total, offset)
        larger = max(new, other)
        total = total * math.exp(new - larger) + more * math.exp(other - larger)
        new = larger
        offset //= 2
    log = NOTHING
    scale = float32(0)
    if total != float32(0):
        log = most + math.log(total)
        scale = float32(1) / total
    if lane == 0:
        lse[row] = log
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            if col < cols:
                out[row, col] = math.exp(own[k] - most) * scale


# wrong-result, lse-without-maximum: Forgets that the sum was taken with the maximum away.
@cuda.jit
def log_of_the_scaled_sum(out, lse, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, own[k])
        total *= math.exp(most - new)
        for k in range(AT_ONCE):
            total += math.exp(own[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, total, offset)
        new = max(most, other)
        total *= math.exp(most - new)
        total += more * math.exp(other - new)
        most = new
        offset //= 2
    log = NOTHING
    scale = float32(0)
    if total != float32(0):
        log = math.log(total)
        scale = float32(1) / total
    if lane == 0:
        lse[row] = log
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            if col < cols:
                out[row, col] = math.exp(own[k] - most) * scale


# wrong-result, overflow: Takes the exponentials as they are.
@cuda.jit
def nothing_taken_away(out, lse, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, own[k])
        for k in range(AT_ONCE):
            total += math.exp(own[k])
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, total, offset)
        new = max(most, other)
        total += more
        most = new
        offset //= 2
    log = NOTHING
    scale = float32(0)
    if total != float32(0):
        log = math.log(total)
        scale = float32(1) / total
    if lane == 0:
        lse[row] = log
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
def began_at_zero(out, lse, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = float32(0)
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, own[k])
        total *= math.exp(most - new)
        for k in range(AT_ONCE):
            total += math.exp(own[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, total, offset)
        new = max(most, other)
        total *= math.exp(most - new)
        total += more * math.exp(other - new)
        most = new
        offset //= 2
    log = NOTHING
    scale = float32(0)
    if total != float32(0):
        log = most + math.log(total)
        scale = float32(1) / total
    if lane == 0:
        lse[row] = log
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
def began_at_minus_infinity(out, lse, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = NOTHING
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, own[k])
        total *= math.exp(most - new)
        for k in range(AT_ONCE):
            total += math.exp(own[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, total, offset)
        new = max(most, other)
        total *= math.exp(most - new)
        total += more * math.exp(other - new)
        most = new
        offset //= 2
    log = NOTHING
    scale = float32(0)
    if total != float32(0):
        log = most + math.log(total)
        scale = float32(1) / total
    if lane == 0:
        lse[row] = log
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
def divides_by_nothing(out, lse, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, own[k])
        total *= math.exp(most - new)
        for k in range(AT_ONCE):
            total += math.exp(own[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, total, offset)
        new = max(most, other)
        total *= math.exp(most - new)
        total += more * math.exp(other - new)
        most = new
        offset //= 2
    log = most + math.log(total) if total != float32(0) else NOTHING
    scale = float32(1) / total
    if lane == 0:
        lse[row] = log
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
def nan_is_nothing(out, lse, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, own[k])
        total *= math.exp(most - new)
        for k in range(AT_ONCE):
            total += math.exp(own[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, total, offset)
        new = max(most, other)
        total *= math.exp(most - new)
        total += more * math.exp(other - new)
        most = new
        offset //= 2
    log = NOTHING
    scale = float32(0)
    if total > float32(0):
        log = most + math.log(total)
        scale = float32(1) / total
    if lane == 0:
        lse[row] = log
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            if col < cols:
                out[row, col] = math.exp(min(own[k] - most, float32(0))) * scale


# hazard, out-of-bounds: Takes the last block for a full one.
@cuda.jit
def no_guard_for_rows(out, lse, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, own[k])
        total *= math.exp(most - new)
        for k in range(AT_ONCE):
            total += math.exp(own[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, total, offset)
        new = max(most, other)
        total *= math.exp(most - new)
        total += more * math.exp(other - new)
        most = new
        offset //= 2
    log = NOTHING
    scale = float32(0)
    if total != float32(0):
        log = most + math.log(total)
        scale = float32(1) / total
    if lane == 0:
        lse[row] = log
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
def tail_left_out(out, lse, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, own[k])
        total *= math.exp(most - new)
        for k in range(AT_ONCE):
            total += math.exp(own[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, total, offset)
        new = max(most, other)
        total *= math.exp(most - new)
        total += more * math.exp(other - new)
        most = new
        offset //= 2
    log = NOTHING
    scale = float32(0)
    if total != float32(0):
        log = most + math.log(total)
        scale = float32(1) / total
    if lane == 0:
        lse[row] = log
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
def columns_side_by_side(out, lse, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row < rows:
        each = (cols + 31) // 32
        last = min(cols, (lane + 1) * each)
        most = LOWEST
        total = float32(0)
        for col in range(lane * each, last):
            new = max(most, x[row, col])
            total *= math.exp(most - new)
            total += math.exp(x[row, col] - new)
            most = new
        offset = 16
        while offset > 0:
            other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
            more = cuda.shfl_xor_sync(ALL_LANES, total, offset)
            new = max(most, other)
            total *= math.exp(most - new)
            total += more * math.exp(other - new)
            most = new
            offset //= 2
        if lane == 0:
            lse[row] = most + math.log(total) if total != float32(0) else NOTHING
        if total == float32(0):
            total = float32(1)
        for col in range(lane * each, last):
            out[row, col] = math.exp(x[row, col] - most) / total


# over-budget, over-budget: Gives the sum a float64, and all that follows.
@cuda.jit
def in_float64(out, lse, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    total = 0.0
    for start in range(lane, cols, 32 * AT_ONCE):
        # All loads come first: none waits for another.
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, own[k])
        total = total * math.exp(most - new)
        for k in range(AT_ONCE):
            total += math.exp(own[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, total, offset)
        new = max(most, other)
        total *= math.exp(most - new)
        total += more * math.exp(other - new)
        most = new
        offset //= 2
    log = NOTHING
    scale = float32(0)
    if total != float32(0):
        log = most + math.log(total)
        scale = float32(1.0 / total)
    if lane == 0:
        lse[row] = log
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
def one_lane(out, lse, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    row = cuda.blockIdx.x * WARPS + t // 32
    if row < rows and t % 32 == 0:
        most = LOWEST
        total = float32(0)
        for col in range(cols):
            new = max(most, x[row, col])
            total *= math.exp(most - new)
            total += math.exp(x[row, col] - new)
            most = new
        lse[row] = most + math.log(total) if total != float32(0) else NOTHING
        if total == float32(0):
            total = float32(1)
        for col in range(cols):
            out[row, col] = math.exp(x[row, col] - most) / total


# wrong-result, zeros-count: Puts zeros past the end of the row, which add nothing to a sum.
@cuda.jit
def padded_with_zeros(out, lse, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= rows:
        return
    own = cuda.local.array(AT_ONCE, float32)
    most = LOWEST
    total = float32(0)
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else float32(0)
        new = most
        for k in range(AT_ONCE):
            new = max(new, own[k])
        total *= math.exp(most - new)
        for k in range(AT_ONCE):
            total += math.exp(own[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, total, offset)
        new = max(most, other)
        total *= math.exp(most - new)
        total += more * math.exp(other - new)
        most = new
        offset //= 2
    log = NOTHING
    scale = float32(0)
    if total != float32(0):
        log = most + math.log(total)
        scale = float32(1) / total
    if lane == 0:
        lse[row] = log
    for start in range(lane, cols, 32 * AT_ONCE):
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            own[k] = x[row, col] if col < cols else float32(0)
        for k in range(AT_ONCE):
            col = uint32(start + 32 * k)
            if col < cols:
                out[row, col] = math.exp(own[k] - most) * scale

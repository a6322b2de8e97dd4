"""Wrong answers to cross_entropy that learners give."""

import math

from numba import cuda, float32, uint32

TPB = 128
WARPS = 4
ALL_LANES = 0xFFFFFFFF
LOWEST = float32(-3.4028234663852886e38)
NOTHING = float32(-math.inf)
AT_ONCE = 4


# over-budget, over-budget: Reads the row three times: largest, sum, gradient.
@cuda.jit
def three_readings(loss, logits, target, cols, share):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    most = logits[row, 0]
    for col in range(t, cols, TPB):
        most = max(most, logits[row, col])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
        offset //= 2
    if t % 32 == 0:
        tile[t // 32] = most
    cuda.syncthreads()
    for k in range(WARPS):
        most = max(most, tile[k])
    part = float32(0)
    for col in range(t, cols, TPB):
        part += math.exp(logits[row, col] - most)
    offset = 16
    while offset > 0:
        part += cuda.shfl_xor_sync(ALL_LANES, part, offset)
        offset //= 2
    cuda.syncthreads()
    if t % 32 == 0:
        tile[t // 32] = part
    right = target[row]
    aim = logits[row, right]
    cuda.syncthreads()
    part = tile[0] + tile[1] + tile[2] + tile[3]
    if t == 0:
        loss[row] = math.log(part) + most - aim
    scale = share / part
    for col in range(t, cols, TPB):
        slope = scale * math.exp(logits[row, col] - most)
        if col == right:
            slope -= share
        logits[row, col] = slope


# wrong-result, overflow: Takes the exponentials as they are.
@cuda.jit
def no_largest_taken_away(loss, logits, target, cols, share):
    tile = cuda.shared.array((2, WARPS), float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    most = float32(0)
    part = float32(0)
    x = cuda.local.array(AT_ONCE, float32)
    for start in range(t, cols, AT_ONCE * TPB):
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            x[k] = logits[row, col] if col < cols else NOTHING
        new = float32(0)
        part *= math.exp(most - new)
        for k in range(AT_ONCE):
            part += math.exp(x[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, part, offset)
        new = float32(0)
        part = part * math.exp(most - new) + more * math.exp(other - new)
        most = new
        offset //= 2
    if t % 32 == 0:
        tile[0, t // 32] = most
        tile[1, t // 32] = part
    right = target[row]
    aim = logits[row, right]
    cuda.syncthreads()
    most = tile[0, 0]
    part = tile[1, 0]
    for k in range(1, WARPS):
        other = tile[0, k]
        new = float32(0)
        part = part * math.exp(most - new)
        part += tile[1, k] * math.exp(other - new)
        most = new
    if t == 0:
        loss[row] = math.log(part) + most - aim
    scale = share / part
    for start in range(t, cols, AT_ONCE * TPB):
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            x[k] = logits[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            slope = scale * math.exp(x[k] - most)
            if col == right:
                slope -= share
            if col < cols:
                logits[row, col] = slope


# wrong-result, nan-of-infinities: Begins with minus infinity.
@cuda.jit
def began_with_infinity(loss, logits, target, cols, share):
    tile = cuda.shared.array((2, WARPS), float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    most = -float32(math.inf)
    part = float32(0)
    x = cuda.local.array(AT_ONCE, float32)
    for start in range(t, cols, AT_ONCE * TPB):
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            x[k] = logits[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, x[k])
        part *= math.exp(most - new)
        for k in range(AT_ONCE):
            part += math.exp(x[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, part, offset)
        new = max(most, other)
        part = part * math.exp(most - new) + more * math.exp(other - new)
        most = new
        offset //= 2
    if t % 32 == 0:
        tile[0, t // 32] = most
        tile[1, t // 32] = part
    right = target[row]
    aim = logits[row, right]
    cuda.syncthreads()
    most = tile[0, 0]
    part = tile[1, 0]
    for k in range(1, WARPS):
        other = tile[0, k]
        new = max(most, other)
        part = part * math.exp(most - new)
        part += tile[1, k] * math.exp(other - new)
        most = new
    if t == 0:
        loss[row] = math.log(part) + most - aim
    scale = share / part
    for start in range(t, cols, AT_ONCE * TPB):
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            x[k] = logits[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            slope = scale * math.exp(x[k] - most)
            if col == right:
                slope -= share
            if col < cols:
                logits[row, col] = slope


# wrong-result, began-too-high: Begins with 0, which no negative number beats.
@cuda.jit
def began_at_zero(loss, logits, target, cols, share):
    tile = cuda.shared.array((2, WARPS), float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    most = float32(0)
    part = float32(0)
    x = cuda.local.array(AT_ONCE, float32)
    for start in range(t, cols, AT_ONCE * TPB):
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            x[k] = logits[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, x[k])
        part *= math.exp(most - new)
        for k in range(AT_ONCE):
            part += math.exp(x[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, part, offset)
        new = max(most, other)
        part = part * math.exp(most - new) + more * math.exp(other - new)
        most = new
        offset //= 2
    if t % 32 == 0:
        tile[0, t // 32] = most
        tile[1, t // 32] = part
    right = target[row]
    aim = logits[row, right]
    cuda.syncthreads()
    most = tile[0, 0]
    part = tile[1, 0]
    for k in range(1, WARPS):
        other = tile[0, k]
        new = max(most, other)
        part = part * math.exp(most - new)
        part += tile[1, k] * math.exp(other - new)
        most = new
    if t == 0:
        loss[row] = math.log(part) + most - aim
    scale = share / part
    for start in range(t, cols, AT_ONCE * TPB):
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            x[k] = logits[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            slope = scale * math.exp(x[k] - most)
            if col == right:
                slope -= share
            if col < cols:
                logits[row, col] = slope


# wrong-result, no-target: Forgets the target in the gradient.
@cuda.jit
def no_target(loss, logits, target, cols, share):
    tile = cuda.shared.array((2, WARPS), float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    most = LOWEST
    part = float32(0)
    x = cuda.local.array(AT_ONCE, float32)
    for start in range(t, cols, AT_ONCE * TPB):
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            x[k] = logits[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, x[k])
        part *= math.exp(most - new)
        for k in range(AT_ONCE):
            part += math.exp(x[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, part, offset)
        new = max(most, other)
        part = part * math.exp(most - new) + more * math.exp(other - new)
        most = new
        offset //= 2
    if t % 32 == 0:
        tile[0, t // 32] = most
        tile[1, t // 32] = part
    right = target[row]
    aim = logits[row, right]
    cuda.syncthreads()
    most = tile[0, 0]
    part = tile[1, 0]
    for k in range(1, WARPS):
        other = tile[0, k]
        new = max(most, other)
        part = part * math.exp(most - new)
        part += tile[1, k] * math.exp(other - new)
        most = new
    if t == 0:
        loss[row] = math.log(part) + most - aim
    scale = share / part
    for start in range(t, cols, AT_ONCE * TPB):
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            x[k] = logits[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            slope = scale * math.exp(x[k] - most)
            if col < cols:
                logits[row, col] = slope


# wrong-result, not-shared-out: Forgets what a row counts in the batch.
@cuda.jit
def not_shared_out(loss, logits, target, cols, share):
    tile = cuda.shared.array((2, WARPS), float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    most = LOWEST
    part = float32(0)
    x = cuda.local.array(AT_ONCE, float32)
    for start in range(t, cols, AT_ONCE * TPB):
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            x[k] = logits[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, x[k])
        part *= math.exp(most - new)
        for k in range(AT_ONCE):
            part += math.exp(x[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, part, offset)
        new = max(most, other)
        part = part * math.exp(most - new) + more * math.exp(other - new)
        most = new
        offset //= 2
    if t % 32 == 0:
        tile[0, t // 32] = most
        tile[1, t // 32] = part
    right = target[row]
    aim = logits[row, right]
    cuda.syncthreads()
    most = tile[0, 0]
    part = tile[1, 0]
    for k in range(1, WARPS):
        other = tile[0, k]
        new = max(most, other)
        part = part * math.exp(most - new)
        part += tile[1, k] * math.exp(other - new)
        most = new
    if t == 0:
        loss[row] = math.log(part) + most - aim
    scale = float32(1) / part
    for start in range(t, cols, AT_ONCE * TPB):
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            x[k] = logits[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            slope = scale * math.exp(x[k] - most)
            if col == right:
                slope -= float32(1)
            if col < cols:
                logits[row, col] = slope


# wrong-result, own-warp: Uses the sum of its own warp.
@cuda.jit
def own_warp(loss, logits, target, cols, share):
    tile = cuda.shared.array((2, WARPS), float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    most = LOWEST
    part = float32(0)
    x = cuda.local.array(AT_ONCE, float32)
    for start in range(t, cols, AT_ONCE * TPB):
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            x[k] = logits[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, x[k])
        part *= math.exp(most - new)
        for k in range(AT_ONCE):
            part += math.exp(x[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, part, offset)
        new = max(most, other)
        part = part * math.exp(most - new) + more * math.exp(other - new)
        most = new
        offset //= 2
    if t % 32 == 0:
        tile[0, t // 32] = most
        tile[1, t // 32] = part
    right = target[row]
    aim = logits[row, right]
    cuda.syncthreads()
    if t == 0:
        loss[row] = math.log(part) + most - aim
    scale = share / part
    for start in range(t, cols, AT_ONCE * TPB):
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            x[k] = logits[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            slope = scale * math.exp(x[k] - most)
            if col == right:
                slope -= share
            if col < cols:
                logits[row, col] = slope


# wrong-result, not-scaled: Leaves the sum as it was when a larger number comes.
@cuda.jit
def not_scaled(loss, logits, target, cols, share):
    tile = cuda.shared.array((2, WARPS), float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    most = LOWEST
    part = float32(0)
    x = cuda.local.array(AT_ONCE, float32)
    for start in range(t, cols, AT_ONCE * TPB):
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            x[k] = logits[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, x[k])
        for k in range(AT_ONCE):
            part += math.exp(x[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, part, offset)
        new = max(most, other)
        part = part * math.exp(most - new) + more * math.exp(other - new)
        most = new
        offset //= 2
    if t % 32 == 0:
        tile[0, t // 32] = most
        tile[1, t // 32] = part
    right = target[row]
    aim = logits[row, right]
    cuda.syncthreads()
    most = tile[0, 0]
    part = tile[1, 0]
    for k in range(1, WARPS):
        other = tile[0, k]
        new = max(most, other)
        part = part * math.exp(most - new)
        part += tile[1, k] * math.exp(other - new)
        most = new
    if t == 0:
        loss[row] = math.log(part) + most - aim
    scale = share / part
    for start in range(t, cols, AT_ONCE * TPB):
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            x[k] = logits[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            slope = scale * math.exp(x[k] - most)
            if col == right:
                slope -= share
            if col < cols:
                logits[row, col] = slope


# hazard, race: Reads the target's number when gradients are already being written.
@cuda.jit
def target_read_late(loss, logits, target, cols, share):
    tile = cuda.shared.array((2, WARPS), float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    most = LOWEST
    part = float32(0)
    x = cuda.local.array(AT_ONCE, float32)
    for start in range(t, cols, AT_ONCE * TPB):
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            x[k] = logits[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, x[k])
        part *= math.exp(most - new)
        for k in range(AT_ONCE):
            part += math.exp(x[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, part, offset)
        new = max(most, other)
        part = part * math.exp(most - new) + more * math.exp(other - new)
        most = new
        offset //= 2
    if t % 32 == 0:
        tile[0, t // 32] = most
        tile[1, t // 32] = part
    right = target[row]
    cuda.syncthreads()
    most = tile[0, 0]
    part = tile[1, 0]
    for k in range(1, WARPS):
        other = tile[0, k]
        new = max(most, other)
        part = part * math.exp(most - new)
        part += tile[1, k] * math.exp(other - new)
        most = new
    scale = share / part
    for start in range(t, cols, AT_ONCE * TPB):
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            x[k] = logits[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            slope = scale * math.exp(x[k] - most)
            if col == right:
                slope -= share
            if col < cols:
                logits[row, col] = slope
    if t == 0:
        loss[row] = math.log(part) + most - logits[row, right]


# hazard, race: Reads the tile without waiting for the other warps.
@cuda.jit
def no_barrier(loss, logits, target, cols, share):
    tile = cuda.shared.array((2, WARPS), float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    most = LOWEST
    part = float32(0)
    x = cuda.local.array(AT_ONCE, float32)
    for start in range(t, cols, AT_ONCE * TPB):
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            x[k] = logits[row, col] if col < cols else NOTHING
        new = most
        for k in range(AT_ONCE):
            new = max(new, x[k])
        part *= math.exp(most - new)
        for k in range(AT_ONCE):
            part += math.exp(x[k] - new)
        most = new
    offset = 16
    while offset > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, most, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, part, offset)
        new = max(most, other)
        part = part * math.exp(most - new) + more * math.exp(other - new)
        most = new
        offset //= 2
    if t % 32 == 0:
        tile[0, t // 32] = most
        tile[1, t // 32] = part
    right = target[row]
    aim = logits[row, right]
    most = tile[0, 0]
    part = tile[1, 0]
    for k in range(1, WARPS):
        other = tile[0, k]
        new = max(most, other)
        part = part * math.exp(most - new)
        part += tile[1, k] * math.exp(other - new)
        most = new
    if t == 0:
        loss[row] = math.log(part) + most - aim
    scale = share / part
    for start in range(t, cols, AT_ONCE * TPB):
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            x[k] = logits[row, col] if col < cols else NOTHING
        for k in range(AT_ONCE):
            col = uint32(start + k * TPB)
            slope = scale * math.exp(x[k] - most)
            if col == right:
                slope -= share
            if col < cols:
                logits[row, col] = slope


# over-budget, not-shared: The first thread of a block does the whole row.
@cuda.jit
def one_thread_of_a_block(loss, logits, target, cols, share):
    row = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        most = LOWEST
        part = float32(0)
        for col in range(cols):
            new = max(most, logits[row, col])
            part *= math.exp(most - new)
            part += math.exp(logits[row, col] - new)
            most = new
        right = target[row]
        loss[row] = math.log(part) + most - logits[row, right]
        for col in range(cols):
            slope = math.exp(logits[row, col] - most) / part
            if col == right:
                slope -= float32(1)
            logits[row, col] = slope * share

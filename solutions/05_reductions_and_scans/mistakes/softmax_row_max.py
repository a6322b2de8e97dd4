"""Wrong answers to softmax_row_max that learners give."""

import math

from numba import cuda, float32

TPB = 128
WARPS = 4
ALL_LANES = 0xFFFFFFFF


# hazard, race: Uses the tile again while other warps still read the first results from it.
@cuda.jit
def tile_used_again_at_once(largest, total, a, cols):
    tile = cuda.shared.array(WARPS, float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    most = a[row, 0]
    for col in range(t, cols, TPB):
        most = max(most, a[row, col])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_down_sync(ALL_LANES, most, offset))
        offset //= 2
    if lane == 0:
        tile[warp] = most
    cuda.syncthreads()
    for k in range(WARPS):
        most = max(most, tile[k])
    part = float32(0)
    for col in range(t, cols, TPB):
        part += math.exp(a[row, col] - most)
    offset = 16
    while offset > 0:
        part += cuda.shfl_down_sync(ALL_LANES, part, offset)
        offset //= 2
    if lane == 0:
        tile[warp] = part
    cuda.syncthreads()
    if t == 0:
        for k in range(1, WARPS):
            part += tile[k]
        largest[row] = most
        total[row] = part


# wrong-result, nothing-taken-away: Takes the exponentials as they are.
@cuda.jit
def no_largest_taken_away(largest, total, a, cols):
    tile = cuda.shared.array(WARPS, float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    most = a[row, 0]
    for col in range(t, cols, TPB):
        most = max(most, a[row, col])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_down_sync(ALL_LANES, most, offset))
        offset //= 2
    if lane == 0:
        tile[warp] = most
    cuda.syncthreads()
    for k in range(WARPS):
        most = max(most, tile[k])
    part = float32(0)
    for col in range(t, cols, TPB):
        part += math.exp(a[row, col])
    offset = 16
    while offset > 0:
        part += cuda.shfl_down_sync(ALL_LANES, part, offset)
        offset //= 2
    cuda.syncthreads()
    if lane == 0:
        tile[warp] = part
    cuda.syncthreads()
    if t == 0:
        for k in range(1, WARPS):
            part += tile[k]
        largest[row] = most
        total[row] = part


# wrong-result, began-at-zero: Begins with zero, which no negative number beats.
@cuda.jit
def began_at_zero(largest, total, a, cols):
    tile = cuda.shared.array(WARPS, float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    most = float32(0)
    for col in range(t, cols, TPB):
        most = max(most, a[row, col])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_down_sync(ALL_LANES, most, offset))
        offset //= 2
    if lane == 0:
        tile[warp] = most
    cuda.syncthreads()
    for k in range(WARPS):
        most = max(most, tile[k])
    part = float32(0)
    for col in range(t, cols, TPB):
        part += math.exp(a[row, col] - most)
    offset = 16
    while offset > 0:
        part += cuda.shfl_down_sync(ALL_LANES, part, offset)
        offset //= 2
    cuda.syncthreads()
    if lane == 0:
        tile[warp] = part
    cuda.syncthreads()
    if t == 0:
        for k in range(1, WARPS):
            part += tile[k]
        largest[row] = most
        total[row] = part


# wrong-result, largest-of-a-warp: Each warp goes on with the largest number that it has found
# itself.
@cuda.jit
def largest_of_the_own_warp(largest, total, a, cols):
    tile = cuda.shared.array(WARPS, float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    most = a[row, 0]
    for col in range(t, cols, TPB):
        most = max(most, a[row, col])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_down_sync(ALL_LANES, most, offset))
        offset //= 2
    if lane == 0:
        tile[warp] = most
    cuda.syncthreads()
    most = cuda.shfl_sync(ALL_LANES, most, 0)
    part = float32(0)
    for col in range(t, cols, TPB):
        part += math.exp(a[row, col] - most)
    offset = 16
    while offset > 0:
        part += cuda.shfl_down_sync(ALL_LANES, part, offset)
        offset //= 2
    cuda.syncthreads()
    if lane == 0:
        tile[warp] = part
    cuda.syncthreads()
    if t == 0:
        for k in range(1, WARPS):
            part += tile[k]
        largest[row] = most
        total[row] = part


# wrong-result, largest-of-a-lane: Only lane 0 of a warp knows the largest, and all go on with
# theirs.
@cuda.jit
def largest_of_the_lane(largest, total, a, cols):
    tile = cuda.shared.array(WARPS, float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    most = a[row, 0]
    for col in range(t, cols, TPB):
        most = max(most, a[row, col])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_down_sync(ALL_LANES, most, offset))
        offset //= 2
    if lane == 0:
        tile[warp] = most
    cuda.syncthreads()
    if lane == 0:
        for k in range(WARPS):
            most = max(most, tile[k])
    part = float32(0)
    for col in range(t, cols, TPB):
        part += math.exp(a[row, col] - most)
    offset = 16
    while offset > 0:
        part += cuda.shfl_down_sync(ALL_LANES, part, offset)
        offset //= 2
    cuda.syncthreads()
    if lane == 0:
        tile[warp] = part
    cuda.syncthreads()
    if t == 0:
        for k in range(1, WARPS):
            part += tile[k]
        largest[row] = most
        total[row] = part


# wrong-result, places-counted: Lets the places without a column count as exp(0).
@cuda.jit
def places_without_a_column(largest, total, a, cols):
    tile = cuda.shared.array(WARPS, float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    most = a[row, 0]
    for col in range(t, cols, TPB):
        most = max(most, a[row, col])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_down_sync(ALL_LANES, most, offset))
        offset //= 2
    if lane == 0:
        tile[warp] = most
    cuda.syncthreads()
    for k in range(WARPS):
        most = max(most, tile[k])
    part = float32(0)
    for start in range(0, cols, TPB):
        x = a[row, start + t] if start + t < cols else most
        part += math.exp(x - most)
    offset = 16
    while offset > 0:
        part += cuda.shfl_down_sync(ALL_LANES, part, offset)
        offset //= 2
    cuda.syncthreads()
    if lane == 0:
        tile[warp] = part
    cuda.syncthreads()
    if t == 0:
        for k in range(1, WARPS):
            part += tile[k]
        largest[row] = most
        total[row] = part


# over-budget, over-budget: Gives the exponential a float64, and all that follows.
@cuda.jit
def in_float64(largest, total, a, cols):
    tile = cuda.shared.array(WARPS, float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    most = a[row, 0]
    for col in range(t, cols, TPB):
        most = max(most, a[row, col])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_down_sync(ALL_LANES, most, offset))
        offset //= 2
    if lane == 0:
        tile[warp] = most
    cuda.syncthreads()
    for k in range(WARPS):
        most = max(most, tile[k])
    part = 0.0
    for col in range(t, cols, TPB):
        part += math.exp(1.0 * (a[row, col] - most))
    offset = 16
    while offset > 0:
        part += cuda.shfl_down_sync(ALL_LANES, part, offset)
        offset //= 2
    cuda.syncthreads()
    if lane == 0:
        tile[warp] = part
    cuda.syncthreads()
    if t == 0:
        for k in range(1, WARPS):
            part += tile[k]
        largest[row] = most
        total[row] = part


# over-budget, over-budget: Two trees in shared memory: right, and they wait in every step.
@cuda.jit
def trees_in_shared_memory(largest, total, a, cols):
    tile = cuda.shared.array(TPB, float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    most = a[row, 0]
    for col in range(t, cols, TPB):
        most = max(most, a[row, col])
    tile[t] = most
    cuda.syncthreads()
    stride = TPB // 2
    while stride > 0:
        if t < stride:
            tile[t] = max(tile[t], tile[t + stride])
        cuda.syncthreads()
        stride //= 2
    most = tile[0]
    part = float32(0)
    for col in range(t, cols, TPB):
        part += math.exp(a[row, col] - most)
    cuda.syncthreads()
    tile[t] = part
    cuda.syncthreads()
    stride = TPB // 2
    while stride > 0:
        if t < stride:
            tile[t] = tile[t] + tile[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        largest[row] = most
        total[row] = tile[0]


# over-budget, not-shared: One thread goes over the row, twice.
@cuda.jit
def one_thread_of_each_block(largest, total, a, cols):
    row = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        most = a[row, 0]
        for col in range(cols):
            most = max(most, a[row, col])
        part = float32(0)
        for col in range(cols):
            part += math.exp(a[row, col] - most)
        largest[row] = most
        total[row] = part


# over-budget, not-shared: One warp does the row without a barrier, and the other three look on.
@cuda.jit
def one_warp_of_each_block(largest, total, a, cols):
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    if t < 32:
        most = a[row, 0]
        for col in range(t, cols, 32):
            most = max(most, a[row, col])
        offset = 16
        while offset > 0:
            most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
            offset //= 2
        part = float32(0)
        for col in range(t, cols, 32):
            part += math.exp(a[row, col] - most)
        offset = 16
        while offset > 0:
            part += cuda.shfl_xor_sync(ALL_LANES, part, offset)
            offset //= 2
        if t == 0:
            largest[row] = most
            total[row] = part

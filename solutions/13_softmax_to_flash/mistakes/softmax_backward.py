"""Wrong answers to softmax_backward that learners give."""

from numba import cuda, float32, uint32

TPB = 128
WARPS = 4
KEPT = 8
ALL_LANES = 0xFFFFFFFF


# over-budget, over-budget: Reads y and dy a second time for the result.
@cuda.jit
def reads_twice(dx, y, dy, cols):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    total = float32(0)
    for col in range(t, cols, TPB):
        total += y[row, col] * dy[row, col]
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    if t % 32 == 0:
        tile[t // 32] = total
    cuda.syncthreads()
    total = tile[0]
    for k in range(1, WARPS):
        total += tile[k]
    for col in range(t, cols, TPB):
        dx[row, col] = y[row, col] * (dy[row, col] - total)


# over-budget, over-budget: Each thread finds the sum of its row for itself.
@cuda.jit
def each_thread_alone(dx, y, dy, cols):
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    total = float32(0)
    for col in range(cols):
        total += y[row, col] * dy[row, col]
    for col in range(t, cols, TPB):
        dx[row, col] = y[row, col] * (dy[row, col] - total)


# over-budget, over-budget: Leaves y * dy in dx until the sum is known.
@cuda.jit
def products_in_dx(dx, y, dy, cols):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    total = float32(0)
    for col in range(t, cols, TPB):
        dx[row, col] = y[row, col] * dy[row, col]
        total += dx[row, col]
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    if t % 32 == 0:
        tile[t // 32] = total
    cuda.syncthreads()
    total = tile[0]
    for k in range(1, WARPS):
        total += tile[k]
    for col in range(t, cols, TPB):
        dx[row, col] -= y[row, col] * total


# over-budget, over-budget: Keeps a row in arrays whose index only the run knows.
@cuda.jit
def index_of_the_run(dx, y, dy, cols):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    own = cuda.local.array(16, float32)
    slope = cuda.local.array(16, float32)
    total = float32(0)
    for col in range(t, cols, TPB):
        own[col // TPB] = y[row, col]
        slope[col // TPB] = dy[row, col]
        total += own[col // TPB] * slope[col // TPB]
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    if t % 32 == 0:
        tile[t // 32] = total
    cuda.syncthreads()
    total = tile[0]
    for k in range(1, WARPS):
        total += tile[k]
    for col in range(t, cols, TPB):
        dx[row, col] = own[col // TPB] * (slope[col // TPB] - total)


# wrong-result, no-sum: Passes each gradient back through its own share alone.
@cuda.jit
def nothing_taken_away(dx, y, dy, cols):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    own = cuda.local.array(KEPT, float32)
    slope = cuda.local.array(KEPT, float32)
    # All loads come first: none waits for another.
    for k in range(KEPT):
        col = t + k * TPB
        own[k] = y[row, col] if col < cols else float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        slope[k] = dy[row, col] if col < cols else float32(0)
    total = float32(0)
    for k in range(KEPT):
        total += own[k] * slope[k]
    for start in range(t + KEPT * TPB, cols, TPB):
        col = uint32(start)
        total += y[row, col] * dy[row, col]
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    if t % 32 == 0:
        tile[t // 32] = total
    cuda.syncthreads()
    total = tile[0]
    for k in range(1, WARPS):
        total += tile[k]
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            dx[row, col] = own[k] * slope[k]
    for start in range(t + KEPT * TPB, cols, TPB):
        col = uint32(start)
        dx[row, col] = y[row, col] * dy[row, col]


# wrong-result, unweighted-sum: Adds up the gradients as they are.
@cuda.jit
def sum_of_the_gradients(dx, y, dy, cols):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    own = cuda.local.array(KEPT, float32)
    slope = cuda.local.array(KEPT, float32)
    # All loads come first: none waits for another.
    for k in range(KEPT):
        col = t + k * TPB
        own[k] = y[row, col] if col < cols else float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        slope[k] = dy[row, col] if col < cols else float32(0)
    total = float32(0)
    for k in range(KEPT):
        total += slope[k]
    for start in range(t + KEPT * TPB, cols, TPB):
        col = uint32(start)
        total += dy[row, col]
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    if t % 32 == 0:
        tile[t // 32] = total
    cuda.syncthreads()
    total = tile[0]
    for k in range(1, WARPS):
        total += tile[k]
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            dx[row, col] = own[k] * (slope[k] - total)
    for start in range(t + KEPT * TPB, cols, TPB):
        col = uint32(start)
        dx[row, col] = y[row, col] * (dy[row, col] - total)


# wrong-result, diagonal-only: Takes the derivative of a share by its own number for all.
@cuda.jit
def only_the_diagonal(dx, y, dy, cols):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    own = cuda.local.array(KEPT, float32)
    slope = cuda.local.array(KEPT, float32)
    # All loads come first: none waits for another.
    for k in range(KEPT):
        col = t + k * TPB
        own[k] = y[row, col] if col < cols else float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        slope[k] = dy[row, col] if col < cols else float32(0)
    total = float32(0)
    for k in range(KEPT):
        total += own[k] * slope[k]
    for start in range(t + KEPT * TPB, cols, TPB):
        col = uint32(start)
        total += y[row, col] * dy[row, col]
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    if t % 32 == 0:
        tile[t // 32] = total
    cuda.syncthreads()
    total = tile[0]
    for k in range(1, WARPS):
        total += tile[k]
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            dx[row, col] = own[k] * (float32(1) - own[k]) * slope[k]
    for start in range(t + KEPT * TPB, cols, TPB):
        col = uint32(start)
        dx[row, col] = y[row, col] * (float32(1) - y[row, col]) * dy[row, col]


# wrong-result, own-warp: Uses what its own warp has found.
@cuda.jit
def sum_of_the_own_warp(dx, y, dy, cols):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    own = cuda.local.array(KEPT, float32)
    slope = cuda.local.array(KEPT, float32)
    # All loads come first: none waits for another.
    for k in range(KEPT):
        col = t + k * TPB
        own[k] = y[row, col] if col < cols else float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        slope[k] = dy[row, col] if col < cols else float32(0)
    total = float32(0)
    for k in range(KEPT):
        total += own[k] * slope[k]
    for start in range(t + KEPT * TPB, cols, TPB):
        col = uint32(start)
        total += y[row, col] * dy[row, col]
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            dx[row, col] = own[k] * (slope[k] - total)
    for start in range(t + KEPT * TPB, cols, TPB):
        col = uint32(start)
        dx[row, col] = y[row, col] * (dy[row, col] - total)


# wrong-result, rest-not-summed: Adds up only what it keeps.
@cuda.jit
def rest_left_out_of_the_sum(dx, y, dy, cols):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    own = cuda.local.array(KEPT, float32)
    slope = cuda.local.array(KEPT, float32)
    # All loads come first: none waits for another.
    for k in range(KEPT):
        col = t + k * TPB
        own[k] = y[row, col] if col < cols else float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        slope[k] = dy[row, col] if col < cols else float32(0)
    total = float32(0)
    for k in range(KEPT):
        total += own[k] * slope[k]
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    if t % 32 == 0:
        tile[t // 32] = total
    cuda.syncthreads()
    total = tile[0]
    for k in range(1, WARPS):
        total += tile[k]
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            dx[row, col] = own[k] * (slope[k] - total)
    for start in range(t + KEPT * TPB, cols, TPB):
        col = uint32(start)
        dx[row, col] = y[row, col] * (dy[row, col] - total)


# wrong-result, tail-unwritten: Takes no row for longer than what it keeps.
@cuda.jit
def rest_not_written(dx, y, dy, cols):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    own = cuda.local.array(KEPT, float32)
    slope = cuda.local.array(KEPT, float32)
    # All loads come first: none waits for another.
    for k in range(KEPT):
        col = t + k * TPB
        own[k] = y[row, col] if col < cols else float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        slope[k] = dy[row, col] if col < cols else float32(0)
    total = float32(0)
    for k in range(KEPT):
        total += own[k] * slope[k]
    for start in range(t + KEPT * TPB, cols, TPB):
        col = uint32(start)
        total += y[row, col] * dy[row, col]
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    if t % 32 == 0:
        tile[t // 32] = total
    cuda.syncthreads()
    total = tile[0]
    for k in range(1, WARPS):
        total += tile[k]
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            dx[row, col] = own[k] * (slope[k] - total)


# hazard, race: Reads the tile without waiting for the other warps.
@cuda.jit
def no_barrier(dx, y, dy, cols):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    own = cuda.local.array(KEPT, float32)
    slope = cuda.local.array(KEPT, float32)
    # All loads come first: none waits for another.
    for k in range(KEPT):
        col = t + k * TPB
        own[k] = y[row, col] if col < cols else float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        slope[k] = dy[row, col] if col < cols else float32(0)
    total = float32(0)
    for k in range(KEPT):
        total += own[k] * slope[k]
    for start in range(t + KEPT * TPB, cols, TPB):
        col = uint32(start)
        total += y[row, col] * dy[row, col]
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    if t % 32 == 0:
        tile[t // 32] = total
    total = tile[0]
    for k in range(1, WARPS):
        total += tile[k]
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            dx[row, col] = own[k] * (slope[k] - total)
    for start in range(t + KEPT * TPB, cols, TPB):
        col = uint32(start)
        dx[row, col] = y[row, col] * (dy[row, col] - total)


# hazard, out-of-bounds: Takes every row for a full one.
@cuda.jit
def no_guard(dx, y, dy, cols):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    own = cuda.local.array(KEPT, float32)
    slope = cuda.local.array(KEPT, float32)
    # All loads come first: none waits for another.
    for k in range(KEPT):
        col = t + k * TPB
        own[k] = y[row, col] if col < cols else float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        slope[k] = dy[row, col]
    total = float32(0)
    for k in range(KEPT):
        total += own[k] * slope[k]
    for start in range(t + KEPT * TPB, cols, TPB):
        col = uint32(start)
        total += y[row, col] * dy[row, col]
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    if t % 32 == 0:
        tile[t // 32] = total
    cuda.syncthreads()
    total = tile[0]
    for k in range(1, WARPS):
        total += tile[k]
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            dx[row, col] = own[k] * (slope[k] - total)
    for start in range(t + KEPT * TPB, cols, TPB):
        col = uint32(start)
        dx[row, col] = y[row, col] * (dy[row, col] - total)


# over-budget, over-budget: A tree in shared memory, with a barrier for each step.
@cuda.jit
def tree_in_shared_memory(dx, y, dy, cols):
    tile = cuda.shared.array(TPB, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    own = cuda.local.array(KEPT, float32)
    slope = cuda.local.array(KEPT, float32)
    # All loads come first: none waits for another.
    for k in range(KEPT):
        col = t + k * TPB
        own[k] = y[row, col] if col < cols else float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        slope[k] = dy[row, col] if col < cols else float32(0)
    total = float32(0)
    for k in range(KEPT):
        total += own[k] * slope[k]
    for start in range(t + KEPT * TPB, cols, TPB):
        col = uint32(start)
        total += y[row, col] * dy[row, col]
    tile[t] = total
    cuda.syncthreads()
    step = TPB // 2
    while step > 0:
        if t < step:
            tile[t] += tile[t + step]
        cuda.syncthreads()
        step //= 2
    total = tile[0]
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            dx[row, col] = own[k] * (slope[k] - total)
    for start in range(t + KEPT * TPB, cols, TPB):
        col = uint32(start)
        dx[row, col] = y[row, col] * (dy[row, col] - total)


# over-budget, over-budget: Gives each thread columns that lie side by side.
@cuda.jit
def columns_side_by_side(dx, y, dy, cols):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    each = (cols + TPB - 1) // TPB
    last = min(cols, (t + 1) * each)
    total = float32(0)
    for col in range(t * each, last):
        total += y[row, col] * dy[row, col]
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    if t % 32 == 0:
        tile[t // 32] = total
    cuda.syncthreads()
    total = tile[0]
    for k in range(1, WARPS):
        total += tile[k]
    for col in range(t * each, last):
        dx[row, col] = y[row, col] * (dy[row, col] - total)


# over-budget, over-budget: Adds up in float64.
@cuda.jit
def in_float64(dx, y, dy, cols):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    own = cuda.local.array(KEPT, float32)
    slope = cuda.local.array(KEPT, float32)
    # All loads come first: none waits for another.
    for k in range(KEPT):
        col = t + k * TPB
        own[k] = y[row, col] if col < cols else float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        slope[k] = dy[row, col] if col < cols else float32(0)
    total = 0.0
    for k in range(KEPT):
        total += own[k] * slope[k]
    for start in range(t + KEPT * TPB, cols, TPB):
        col = uint32(start)
        total += y[row, col] * dy[row, col]
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    if t % 32 == 0:
        tile[t // 32] = total
    cuda.syncthreads()
    total = tile[0]
    for k in range(1, WARPS):
        total += tile[k]
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            dx[row, col] = own[k] * (slope[k] - total)
    for start in range(t + KEPT * TPB, cols, TPB):
        col = uint32(start)
        dx[row, col] = y[row, col] * (dy[row, col] - total)


# over-budget, not-shared: The first thread of a block does the whole row.
@cuda.jit
def one_thread(dx, y, dy, cols):
    row = uint32(cuda.blockIdx.x)
    if cuda.threadIdx.x == 0:
        total = float32(0)
        for col in range(cols):
            total += y[row, col] * dy[row, col]
        for col in range(cols):
            dx[row, col] = y[row, col] * (dy[row, col] - total)

"""Wrong answers to grid_sum that learners give."""

from numba import cuda, float32

TPB = 128
WARPS = 4
ALL_LANES = 0xFFFFFFFF


# wrong-result, cells-left-out: A cell for each thread, and the rest is left out.
@cuda.jit
def no_loop(out, a, size):
    tile = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    total = float32(0)
    i = cuda.grid(1)
    if i < size:
        total += a[i]
    offset = 16
    while offset > 0:
        total += cuda.shfl_down_sync(ALL_LANES, total, offset)
        offset //= 2
    if lane == 0:
        tile[warp] = total
    cuda.syncthreads()
    if warp == 0:
        total = tile[lane] if lane < WARPS else float32(0)
        offset = WARPS // 2
        while offset > 0:
            total += cuda.shfl_down_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0:
            out[cuda.blockIdx.x] = total


# wrong-result, counted-again: Moves on by the block instead of the grid: cells are counted again.
@cuda.jit
def stride_of_a_block(out, a, size):
    tile = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    total = float32(0)
    for i in range(cuda.grid(1), size, TPB):
        total += a[i]
    offset = 16
    while offset > 0:
        total += cuda.shfl_down_sync(ALL_LANES, total, offset)
        offset //= 2
    if lane == 0:
        tile[warp] = total
    cuda.syncthreads()
    if warp == 0:
        total = tile[lane] if lane < WARPS else float32(0)
        offset = WARPS // 2
        while offset > 0:
            total += cuda.shfl_down_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0:
            out[cuda.blockIdx.x] = total


# over-budget, over-budget: Each thread takes a stretch of its own.
@cuda.jit
def a_stretch_for_each_thread(out, a, size):
    tile = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    step = cuda.gridsize(1)
    total = float32(0)
    each = (size + step - 1) // step
    first = cuda.grid(1) * each
    for i in range(first, min(size, first + each)):
        total += a[i]
    offset = 16
    while offset > 0:
        total += cuda.shfl_down_sync(ALL_LANES, total, offset)
        offset //= 2
    if lane == 0:
        tile[warp] = total
    cuda.syncthreads()
    if warp == 0:
        total = tile[lane] if lane < WARPS else float32(0)
        offset = WARPS // 2
        while offset > 0:
            total += cuda.shfl_down_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0:
            out[cuda.blockIdx.x] = total


# hazard, race: Reads the sums of the other warps at once.
@cuda.jit
def no_barrier(out, a, size):
    tile = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    step = cuda.gridsize(1)
    total = float32(0)
    for i in range(cuda.grid(1), size, step):
        total += a[i]
    offset = 16
    while offset > 0:
        total += cuda.shfl_down_sync(ALL_LANES, total, offset)
        offset //= 2
    if lane == 0:
        tile[warp] = total
    if warp == 0:
        total = tile[lane] if lane < WARPS else float32(0)
        offset = WARPS // 2
        while offset > 0:
            total += cuda.shfl_down_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0:
            out[cuda.blockIdx.x] = total


# hazard, race: Every block writes to cell 0.
@cuda.jit
def every_block_into_one_cell(out, a, size):
    tile = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    step = cuda.gridsize(1)
    total = float32(0)
    for i in range(cuda.grid(1), size, step):
        total += a[i]
    offset = 16
    while offset > 0:
        total += cuda.shfl_down_sync(ALL_LANES, total, offset)
        offset //= 2
    if lane == 0:
        tile[warp] = total
    cuda.syncthreads()
    if warp == 0:
        total = tile[lane] if lane < WARPS else float32(0)
        offset = WARPS // 2
        while offset > 0:
            total += cuda.shfl_down_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0:
            out[0] = total


# over-budget, over-budget: A tree in shared memory: right, and it waits in every step.
@cuda.jit
def tree_in_shared_memory(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    step = cuda.gridsize(1)
    total = float32(0)
    for i in range(cuda.grid(1), size, step):
        total += a[i]
    tile[t] = total
    cuda.syncthreads()
    stride = TPB // 2
    while stride > 0:
        if t < stride:
            tile[t] += tile[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


# hazard, out-of-bounds: Four loads, and one guard for all of them.
@cuda.jit
def one_guard_for_four_loads(out, a, size):
    tile = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    step = cuda.gridsize(1)
    total = float32(0)
    for i in range(cuda.grid(1), size, 4 * step):
        total += (a[i] + a[i + step]) + (a[i + 2 * step] + a[i + 3 * step])
    offset = 16
    while offset > 0:
        total += cuda.shfl_down_sync(ALL_LANES, total, offset)
        offset //= 2
    if lane == 0:
        tile[warp] = total
    cuda.syncthreads()
    if warp == 0:
        total = tile[lane] if lane < WARPS else float32(0)
        offset = WARPS // 2
        while offset > 0:
            total += cuda.shfl_down_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0:
            out[cuda.blockIdx.x] = total


# over-budget, not-shared: The first thread of each block adds up for all.
@cuda.jit
def one_thread_of_each_block(out, a, size):
    if cuda.threadIdx.x == 0:
        total = float32(0)
        for i in range(cuda.blockIdx.x, size, cuda.gridDim.x):
            total += a[i]
        out[cuda.blockIdx.x] = total


# over-budget, over-budget: Begins with a number that is a float64, and adds in float64 from there
# on.
@cuda.jit
def sums_in_float64(out, a, size):
    tile = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    step = cuda.gridsize(1)
    total = 0.0
    for i in range(cuda.grid(1), size, step):
        total += a[i]
    offset = 16
    while offset > 0:
        total += cuda.shfl_down_sync(ALL_LANES, total, offset)
        offset //= 2
    if lane == 0:
        tile[warp] = total
    cuda.syncthreads()
    if t == 0:
        for k in range(1, WARPS):
            total += tile[k]
        out[cuda.blockIdx.x] = total

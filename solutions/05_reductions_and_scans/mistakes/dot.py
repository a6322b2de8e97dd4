"""Wrong answers to dot that learners give."""

from numba import cuda, float32, float64

TPB = 128
WARPS = 4
ALL_LANES = 0xFFFFFFFF


# over-budget, over-budget: A tree in shared memory: right, and it waits in every step.
@cuda.jit
def tree_in_shared_memory(out, a, b, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for i in range(t, size, TPB):
        total += a[i] * b[i]
    tile[t] = total
    cuda.syncthreads()
    stride = TPB // 2
    while stride > 0:
        if t < stride:
            tile[t] += tile[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        out[0] = tile[0]


# over-budget, over-budget: Sums in float64, to be on the safe side.
@cuda.jit
def sums_in_float64(out, a, b, size):
    tile = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    total = float64(0)
    for i in range(t, size, TPB):
        total += a[i] * b[i]
    offset = 16
    while offset > 0:
        total += cuda.shfl_down_sync(ALL_LANES, total, offset)
        offset //= 2
    if t % 32 == 0:
        tile[t // 32] = total
    cuda.syncthreads()
    if t == 0:
        out[0] = tile[0] + tile[1] + tile[2] + tile[3]


# wrong-result, one-warp: Takes the first warp's sum for the block's.
@cuda.jit
def first_warp_only(out, a, b, size):
    t = cuda.threadIdx.x
    total = float32(0)
    for i in range(t, size, TPB):
        total += a[i] * b[i]
    offset = 16
    while offset > 0:
        total += cuda.shfl_down_sync(ALL_LANES, total, offset)
        offset //= 2
    if t == 0:
        out[0] = total


# wrong-result, cells-left-out: One cell for each thread, and no more.
@cuda.jit
def one_cell_each(out, a, b, size):
    tile = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    total = a[t] * b[t] if t < size else float32(0)
    offset = 16
    while offset > 0:
        total += cuda.shfl_down_sync(ALL_LANES, total, offset)
        offset //= 2
    if t % 32 == 0:
        tile[t // 32] = total
    cuda.syncthreads()
    if t == 0:
        out[0] = tile[0] + tile[1] + tile[2] + tile[3]


# hazard, race: Reads the other warps' sums at once.
@cuda.jit
def no_barrier(out, a, b, size):
    tile = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for i in range(t, size, TPB):
        total += a[i] * b[i]
    offset = 16
    while offset > 0:
        total += cuda.shfl_down_sync(ALL_LANES, total, offset)
        offset //= 2
    if t % 32 == 0:
        tile[t // 32] = total
    if t == 0:
        out[0] = tile[0] + tile[1] + tile[2] + tile[3]


# hazard, race: Lets all lanes store: the last to come leaves its partial sum.
@cuda.jit
def every_lane_stores(out, a, b, size):
    tile = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for i in range(t, size, TPB):
        total += a[i] * b[i]
    offset = 16
    while offset > 0:
        total += cuda.shfl_down_sync(ALL_LANES, total, offset)
        offset //= 2
    tile[t // 32] = total
    cuda.syncthreads()
    if t == 0:
        out[0] = tile[0] + tile[1] + tile[2] + tile[3]


# hazard, inactive-lane: Puts the shuffles where only some lanes come.
@cuda.jit
def shuffles_where_cells_are(out, a, b, size):
    tile = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    if t < size:
        for i in range(t, size, TPB):
            total += a[i] * b[i]
        offset = 16
        while offset > 0:
            total += cuda.shfl_down_sync(ALL_LANES, total, offset)
            offset //= 2
    if t % 32 == 0:
        tile[t // 32] = total
    cuda.syncthreads()
    if t == 0:
        out[0] = tile[0] + tile[1] + tile[2] + tile[3]


# wrong-result, squares: Squares instead of products.
@cuda.jit
def squares(out, a, b, size):
    tile = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for i in range(t, size, TPB):
        total += a[i] * a[i]
    offset = 16
    while offset > 0:
        total += cuda.shfl_down_sync(ALL_LANES, total, offset)
        offset //= 2
    if t % 32 == 0:
        tile[t // 32] = total
    cuda.syncthreads()
    if t == 0:
        out[0] = tile[0] + tile[1] + tile[2] + tile[3]


# over-budget, not-shared: One thread does everything.
@cuda.jit
def one_thread(out, a, b, size):
    if cuda.threadIdx.x == 0:
        total = float32(0)
        for i in range(size):
            total += a[i] * b[i]
        out[0] = total

"""Wrong answers to rmsnorm that learners give."""

import math

from numba import cuda, float32, uint32

TPB = 128
WARPS = 4
KEPT = 8
ALL_LANES = 0xFFFFFFFF


# over-budget, over-budget: Reads the row a second time for the result.
@cuda.jit
def reads_twice(out, x, weight, cols, eps):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    total = float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            s = x[row, col]
            total += s * s
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
    size = float32(1) / math.sqrt(total / float32(cols) + eps)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            out[row, col] = x[row, col] * size * weight[col]


# wrong-result, no-root: Divides by the mean of the squares itself.
@cuda.jit
def no_root(out, x, weight, cols, eps):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    kept = cuda.local.array(KEPT, float32)
    total = float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        kept[k] = x[row, col] if col < cols else float32(0)
    for k in range(KEPT):
        total += kept[k] * kept[k]
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
    size = float32(1) / (total / float32(cols) + eps)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            out[row, col] = kept[k] * size * weight[col]


# wrong-result, counts-places: Takes the mean over the places of the block.
@cuda.jit
def counts_places(out, x, weight, cols, eps):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    kept = cuda.local.array(KEPT, float32)
    total = float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        kept[k] = x[row, col] if col < cols else float32(0)
    for k in range(KEPT):
        total += kept[k] * kept[k]
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
    size = float32(1) / math.sqrt(total / float32(TPB * KEPT) + eps)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            out[row, col] = kept[k] * size * weight[col]


# wrong-result, sum-not-mean: Forgets to divide the sum.
@cuda.jit
def sum_for_mean(out, x, weight, cols, eps):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    kept = cuda.local.array(KEPT, float32)
    total = float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        kept[k] = x[row, col] if col < cols else float32(0)
    for k in range(KEPT):
        total += kept[k] * kept[k]
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
    size = float32(1) / math.sqrt(total + eps)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            out[row, col] = kept[k] * size * weight[col]


# wrong-result, own-warp: Uses what its own warp has found.
@cuda.jit
def own_warp(out, x, weight, cols, eps):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    kept = cuda.local.array(KEPT, float32)
    total = float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        kept[k] = x[row, col] if col < cols else float32(0)
    for k in range(KEPT):
        total += kept[k] * kept[k]
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    if t % 32 == 0:
        tile[t // 32] = total
    cuda.syncthreads()
    size = float32(1) / math.sqrt(total / float32(cols) + eps)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            out[row, col] = kept[k] * size * weight[col]


# wrong-result, eps-outside: Adds eps to the root.
@cuda.jit
def eps_outside(out, x, weight, cols, eps):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    kept = cuda.local.array(KEPT, float32)
    total = float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        kept[k] = x[row, col] if col < cols else float32(0)
    for k in range(KEPT):
        total += kept[k] * kept[k]
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
    size = float32(1) / (math.sqrt(total / float32(cols)) + eps)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            out[row, col] = kept[k] * size * weight[col]


# hazard, race: Reads the tile without waiting for the other warps.
@cuda.jit
def no_barrier(out, x, weight, cols, eps):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    kept = cuda.local.array(KEPT, float32)
    total = float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        kept[k] = x[row, col] if col < cols else float32(0)
    for k in range(KEPT):
        total += kept[k] * kept[k]
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    if t % 32 == 0:
        tile[t // 32] = total
    total = tile[0]
    for k in range(1, WARPS):
        total += tile[k]
    size = float32(1) / math.sqrt(total / float32(cols) + eps)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            out[row, col] = kept[k] * size * weight[col]


# hazard, out-of-bounds: Takes every row for a full one.
@cuda.jit
def no_guard(out, x, weight, cols, eps):
    tile = cuda.shared.array(WARPS, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    kept = cuda.local.array(KEPT, float32)
    total = float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        kept[k] = x[row, col]
        total += kept[k] * kept[k]
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
    size = float32(1) / math.sqrt(total / float32(cols) + eps)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            out[row, col] = kept[k] * size * weight[col]


# over-budget, over-budget: A tree in shared memory, with a barrier for each step.
@cuda.jit
def tree_in_shared_memory(out, x, weight, cols, eps):
    tile = cuda.shared.array(TPB, float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    kept = cuda.local.array(KEPT, float32)
    total = float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        kept[k] = x[row, col] if col < cols else float32(0)
    for k in range(KEPT):
        total += kept[k] * kept[k]
    tile[t] = total
    cuda.syncthreads()
    step = TPB // 2
    while step > 0:
        if t < step:
            tile[t] += tile[t + step]
        cuda.syncthreads()
        step //= 2
    total = tile[0]
    size = float32(1) / math.sqrt(total / float32(cols) + eps)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            out[row, col] = kept[k] * size * weight[col]


# over-budget, not-shared: One warp does the whole row, and the others look on.
@cuda.jit
def one_warp(out, x, weight, cols, eps):
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    if t < 32:
        total = float32(0)
        for col in range(t, cols, 32):
            total += x[row, col] * x[row, col]
        offset = 16
        while offset > 0:
            total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
            offset //= 2
        size = float32(1) / math.sqrt(total / float32(cols) + eps)
        for col in range(t, cols, 32):
            out[row, col] = x[row, col] * size * weight[col]

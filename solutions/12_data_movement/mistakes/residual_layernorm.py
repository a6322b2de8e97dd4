"""Wrong answers to residual_layernorm that learners give."""

import math

from numba import cuda, float32, uint32

TPB = 128
WARPS = 4
KEPT = 8
ALL_LANES = 0xFFFFFFFF


# wrong-result, cancelled: Takes the mean of the squares less the square of the mean.
@cuda.jit
def mean_of_squares(out, total, x, residual, weight, bias, cols, eps):
    tile = cuda.shared.array((3, WARPS), float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    kept = cuda.local.array(KEPT, float32)
    mean = float32(0)
    spread = float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            kept[k] = x[row, col] + residual[row, col]
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            total[row, col] = kept[k]
            mean += kept[k]
            spread += kept[k] * kept[k]
    offset = 16
    while offset > 0:
        mean += cuda.shfl_xor_sync(ALL_LANES, mean, offset)
        spread += cuda.shfl_xor_sync(ALL_LANES, spread, offset)
        offset //= 2
    if t % 32 == 0:
        tile[0, t // 32] = mean
        tile[1, t // 32] = spread
    cuda.syncthreads()
    mean = tile[0, 0] + tile[0, 1] + tile[0, 2] + tile[0, 3]
    spread = tile[1, 0] + tile[1, 1] + tile[1, 2] + tile[1, 3]
    mean = mean / float32(cols)
    variance = max(spread / float32(cols) - mean * mean, float32(0))
    rstd = float32(1) / math.sqrt(variance + eps)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            away = (kept[k] - mean) * rstd
            out[row, col] = away * weight[col] + bias[col]


# over-budget, over-budget: Reads total back for the result.
@cuda.jit
def reads_back(out, total, x, residual, weight, bias, cols, eps):
    tile = cuda.shared.array((3, WARPS), float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    kept = cuda.local.array(KEPT, float32)
    count = float32(0)
    mean = float32(0)
    spread = float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            kept[k] = x[row, col] + residual[row, col]
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            total[row, col] = kept[k]
            away = kept[k] - mean
            mean += away * (float32(1) / float32(k + 1))
            spread += away * (kept[k] - mean)
            count += float32(1)
    offset = 16
    while offset > 0:
        n = cuda.shfl_xor_sync(ALL_LANES, count, offset)
        other = cuda.shfl_xor_sync(ALL_LANES, mean, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, spread, offset)
        share = n / max(count + n, float32(1))
        away = other - mean
        spread += more + away * away * count * share
        mean += away * share
        count += n
        offset //= 2
    if t % 32 == 0:
        tile[0, t // 32] = count
        tile[1, t // 32] = mean
        tile[2, t // 32] = spread
    cuda.syncthreads()
    count = tile[0, 0]
    mean = tile[1, 0]
    spread = tile[2, 0]
    for k in range(1, WARPS):
        n = tile[0, k]
        share = n / (count + n)
        away = tile[1, k] - mean
        spread += tile[2, k] + away * away * count * share
        mean += away * share
        count += n
    rstd = float32(1) / math.sqrt(spread / count + eps)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            away = (total[row, col] - mean) * rstd
            out[row, col] = away * weight[col] + bias[col]


# wrong-result, no-root: Divides by the variance.
@cuda.jit
def no_root(out, total, x, residual, weight, bias, cols, eps):
    tile = cuda.shared.array((3, WARPS), float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    kept = cuda.local.array(KEPT, float32)
    count = float32(0)
    mean = float32(0)
    spread = float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            kept[k] = x[row, col] + residual[row, col]
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            total[row, col] = kept[k]
            away = kept[k] - mean
            mean += away * (float32(1) / float32(k + 1))
            spread += away * (kept[k] - mean)
            count += float32(1)
    offset = 16
    while offset > 0:
        n = cuda.shfl_xor_sync(ALL_LANES, count, offset)
        other = cuda.shfl_xor_sync(ALL_LANES, mean, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, spread, offset)
        share = n / max(count + n, float32(1))
        away = other - mean
        spread += more + away * away * count * share
        mean += away * share
        count += n
        offset //= 2
    if t % 32 == 0:
        tile[0, t // 32] = count
        tile[1, t // 32] = mean
        tile[2, t // 32] = spread
    cuda.syncthreads()
    count = tile[0, 0]
    mean = tile[1, 0]
    spread = tile[2, 0]
    for k in range(1, WARPS):
        n = tile[0, k]
        share = n / (count + n)
        away = tile[1, k] - mean
        spread += tile[2, k] + away * away * count * share
        mean += away * share
        count += n
    rstd = float32(1) / (spread / count + eps)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            away = (kept[k] - mean) * rstd
            out[row, col] = away * weight[col] + bias[col]


# wrong-result, eps-outside: Adds eps to the root.
@cuda.jit
def eps_outside(out, total, x, residual, weight, bias, cols, eps):
    tile = cuda.shared.array((3, WARPS), float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    kept = cuda.local.array(KEPT, float32)
    count = float32(0)
    mean = float32(0)
    spread = float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            kept[k] = x[row, col] + residual[row, col]
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            total[row, col] = kept[k]
            away = kept[k] - mean
            mean += away * (float32(1) / float32(k + 1))
            spread += away * (kept[k] - mean)
            count += float32(1)
    offset = 16
    while offset > 0:
        n = cuda.shfl_xor_sync(ALL_LANES, count, offset)
        other = cuda.shfl_xor_sync(ALL_LANES, mean, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, spread, offset)
        share = n / max(count + n, float32(1))
        away = other - mean
        spread += more + away * away * count * share
        mean += away * share
        count += n
        offset //= 2
    if t % 32 == 0:
        tile[0, t // 32] = count
        tile[1, t // 32] = mean
        tile[2, t // 32] = spread
    cuda.syncthreads()
    count = tile[0, 0]
    mean = tile[1, 0]
    spread = tile[2, 0]
    for k in range(1, WARPS):
        n = tile[0, k]
        share = n / (count + n)
        away = tile[1, k] - mean
        spread += tile[2, k] + away * away * count * share
        mean += away * share
        count += n
    rstd = float32(1) / (math.sqrt(spread / count) + eps)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            away = (kept[k] - mean) * rstd
            out[row, col] = away * weight[col] + bias[col]


# wrong-result, one-less: Divides by one less, as for a sample.
@cuda.jit
def one_less(out, total, x, residual, weight, bias, cols, eps):
    tile = cuda.shared.array((3, WARPS), float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    kept = cuda.local.array(KEPT, float32)
    count = float32(0)
    mean = float32(0)
    spread = float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            kept[k] = x[row, col] + residual[row, col]
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            total[row, col] = kept[k]
            away = kept[k] - mean
            mean += away * (float32(1) / float32(k + 1))
            spread += away * (kept[k] - mean)
            count += float32(1)
    offset = 16
    while offset > 0:
        n = cuda.shfl_xor_sync(ALL_LANES, count, offset)
        other = cuda.shfl_xor_sync(ALL_LANES, mean, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, spread, offset)
        share = n / max(count + n, float32(1))
        away = other - mean
        spread += more + away * away * count * share
        mean += away * share
        count += n
        offset //= 2
    if t % 32 == 0:
        tile[0, t // 32] = count
        tile[1, t // 32] = mean
        tile[2, t // 32] = spread
    cuda.syncthreads()
    count = tile[0, 0]
    mean = tile[1, 0]
    spread = tile[2, 0]
    for k in range(1, WARPS):
        n = tile[0, k]
        share = n / (count + n)
        away = tile[1, k] - mean
        spread += tile[2, k] + away * away * count * share
        mean += away * share
        count += n
    rstd = float32(1) / math.sqrt(spread / max(count - float32(1), float32(1)) + eps)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            away = (kept[k] - mean) * rstd
            out[row, col] = away * weight[col] + bias[col]


# wrong-result, counts-places: Takes the mean over the places of the block.
@cuda.jit
def counts_places(out, total, x, residual, weight, bias, cols, eps):
    tile = cuda.shared.array((3, WARPS), float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    kept = cuda.local.array(KEPT, float32)
    count = float32(0)
    mean = float32(0)
    spread = float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            kept[k] = x[row, col] + residual[row, col]
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            total[row, col] = kept[k]
            away = kept[k] - mean
            mean += away * (float32(1) / float32(k + 1))
            spread += away * (kept[k] - mean)
            count += float32(1)
    offset = 16
    while offset > 0:
        n = cuda.shfl_xor_sync(ALL_LANES, count, offset)
        other = cuda.shfl_xor_sync(ALL_LANES, mean, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, spread, offset)
        share = n / max(count + n, float32(1))
        away = other - mean
        spread += more + away * away * count * share
        mean += away * share
        count += n
        offset //= 2
    if t % 32 == 0:
        tile[0, t // 32] = count
        tile[1, t // 32] = mean
        tile[2, t // 32] = spread
    cuda.syncthreads()
    count = tile[0, 0]
    mean = tile[1, 0]
    spread = tile[2, 0]
    for k in range(1, WARPS):
        n = tile[0, k]
        share = n / (count + n)
        away = tile[1, k] - mean
        spread += tile[2, k] + away * away * count * share
        mean += away * share
        count += n
    rstd = float32(1) / math.sqrt(spread / float32(TPB * KEPT) + eps)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            away = (kept[k] - mean) * rstd
            out[row, col] = away * weight[col] + bias[col]


# wrong-result, own-warp: Uses what its own warp has found.
@cuda.jit
def own_warp(out, total, x, residual, weight, bias, cols, eps):
    tile = cuda.shared.array((3, WARPS), float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    kept = cuda.local.array(KEPT, float32)
    count = float32(0)
    mean = float32(0)
    spread = float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            kept[k] = x[row, col] + residual[row, col]
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            total[row, col] = kept[k]
            away = kept[k] - mean
            mean += away * (float32(1) / float32(k + 1))
            spread += away * (kept[k] - mean)
            count += float32(1)
    offset = 16
    while offset > 0:
        n = cuda.shfl_xor_sync(ALL_LANES, count, offset)
        other = cuda.shfl_xor_sync(ALL_LANES, mean, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, spread, offset)
        share = n / max(count + n, float32(1))
        away = other - mean
        spread += more + away * away * count * share
        mean += away * share
        count += n
        offset //= 2
    if t % 32 == 0:
        tile[0, t // 32] = count
        tile[1, t // 32] = mean
        tile[2, t // 32] = spread
    cuda.syncthreads()
    count = tile[0, t // 32]
    mean = tile[1, t // 32]
    spread = tile[2, t // 32]
    count = max(count, float32(1))
    rstd = float32(1) / math.sqrt(spread / count + eps)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            away = (kept[k] - mean) * rstd
            out[row, col] = away * weight[col] + bias[col]


# wrong-result, spread-not-merged: Adds the spreads of the parts, and forgets how far apart their
# means are.
@cuda.jit
def spreads_added(out, total, x, residual, weight, bias, cols, eps):
    tile = cuda.shared.array((3, WARPS), float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    kept = cuda.local.array(KEPT, float32)
    count = float32(0)
    mean = float32(0)
    spread = float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            kept[k] = x[row, col] + residual[row, col]
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            total[row, col] = kept[k]
            away = kept[k] - mean
            mean += away * (float32(1) / float32(k + 1))
            spread += away * (kept[k] - mean)
            count += float32(1)
    offset = 16
    while offset > 0:
        n = cuda.shfl_xor_sync(ALL_LANES, count, offset)
        other = cuda.shfl_xor_sync(ALL_LANES, mean, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, spread, offset)
        share = n / max(count + n, float32(1))
        away = other - mean
        spread += more
        mean += away * share
        count += n
        offset //= 2
    if t % 32 == 0:
        tile[0, t // 32] = count
        tile[1, t // 32] = mean
        tile[2, t // 32] = spread
    cuda.syncthreads()
    count = tile[0, 0]
    mean = tile[1, 0]
    spread = tile[2, 0]
    for k in range(1, WARPS):
        n = tile[0, k]
        share = n / (count + n)
        away = tile[1, k] - mean
        spread += tile[2, k]
        mean += away * share
        count += n
    rstd = float32(1) / math.sqrt(spread / count + eps)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            away = (kept[k] - mean) * rstd
            out[row, col] = away * weight[col] + bias[col]


# hazard, race: Reads the tile without waiting for the other warps.
@cuda.jit
def no_barrier(out, total, x, residual, weight, bias, cols, eps):
    tile = cuda.shared.array((3, WARPS), float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    kept = cuda.local.array(KEPT, float32)
    count = float32(0)
    mean = float32(0)
    spread = float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            kept[k] = x[row, col] + residual[row, col]
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            total[row, col] = kept[k]
            away = kept[k] - mean
            mean += away * (float32(1) / float32(k + 1))
            spread += away * (kept[k] - mean)
            count += float32(1)
    offset = 16
    while offset > 0:
        n = cuda.shfl_xor_sync(ALL_LANES, count, offset)
        other = cuda.shfl_xor_sync(ALL_LANES, mean, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, spread, offset)
        share = n / max(count + n, float32(1))
        away = other - mean
        spread += more + away * away * count * share
        mean += away * share
        count += n
        offset //= 2
    if t % 32 == 0:
        tile[0, t // 32] = count
        tile[1, t // 32] = mean
        tile[2, t // 32] = spread
    count = tile[0, 0]
    mean = tile[1, 0]
    spread = tile[2, 0]
    for k in range(1, WARPS):
        n = tile[0, k]
        share = n / (count + n)
        away = tile[1, k] - mean
        spread += tile[2, k] + away * away * count * share
        mean += away * share
        count += n
    rstd = float32(1) / math.sqrt(spread / count + eps)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            away = (kept[k] - mean) * rstd
            out[row, col] = away * weight[col] + bias[col]


# hazard, out-of-bounds: Takes every row for a full one.
@cuda.jit
def no_guard(out, total, x, residual, weight, bias, cols, eps):
    tile = cuda.shared.array((3, WARPS), float32)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    kept = cuda.local.array(KEPT, float32)
    count = float32(0)
    mean = float32(0)
    spread = float32(0)
    for k in range(KEPT):
        col = t + k * TPB
        if col <= cols:
            kept[k] = x[row, col] + residual[row, col]
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            total[row, col] = kept[k]
            away = kept[k] - mean
            mean += away * (float32(1) / float32(k + 1))
            spread += away * (kept[k] - mean)
            count += float32(1)
    offset = 16
    while offset > 0:
        n = cuda.shfl_xor_sync(ALL_LANES, count, offset)
        other = cuda.shfl_xor_sync(ALL_LANES, mean, offset)
        more = cuda.shfl_xor_sync(ALL_LANES, spread, offset)
        share = n / max(count + n, float32(1))
        away = other - mean
        spread += more + away * away * count * share
        mean += away * share
        count += n
        offset //= 2
    if t % 32 == 0:
        tile[0, t // 32] = count
        tile[1, t // 32] = mean
        tile[2, t // 32] = spread
    cuda.syncthreads()
    count = tile[0, 0]
    mean = tile[1, 0]
    spread = tile[2, 0]
    for k in range(1, WARPS):
        n = tile[0, k]
        share = n / (count + n)
        away = tile[1, k] - mean
        spread += tile[2, k] + away * away * count * share
        mean += away * share
        count += n
    rstd = float32(1) / math.sqrt(spread / count + eps)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            away = (kept[k] - mean) * rstd
            out[row, col] = away * weight[col] + bias[col]


# over-budget, not-shared: The first thread of a block does the whole row.
@cuda.jit
def one_thread_of_a_block(out, total, x, residual, weight, bias, cols, eps):
    row = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        mean = float32(0)
        for col in range(cols):
            total[row, col] = x[row, col] + residual[row, col]
            mean += total[row, col]
        mean /= float32(cols)
        spread = float32(0)
        for col in range(cols):
            away = total[row, col] - mean
            spread += away * away
        rstd = float32(1) / math.sqrt(spread / float32(cols) + eps)
        for col in range(cols):
            away = (total[row, col] - mean) * rstd
            out[row, col] = away * weight[col] + bias[col]

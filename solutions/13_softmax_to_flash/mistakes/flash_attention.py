"""Wrong answers to flash_attention that learners give."""

import math

from numba import cuda, float32, uint32

D = 32
ROWS = 32
TILE = 32
PADDED = 33
WARPS = 8
EACH = 4
ALL_LANES = 0xFFFFFFFF
LOWEST = float32(-3.4028234663852886e38)
NOTHING = float32(-math.inf)


# wrong-result, not-scaled: Takes the dot product for the score.
@cuda.jit
def scores_not_scaled(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    start = 0
    while start < m:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            s = score[j] if start + lane < m else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# wrong-result, sums-not-shrunk: Shrinks the sum of the weights, and not what they were weights of.
@cuda.jit
def sums_not_shrunk(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    start = 0
    while start < m:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            s = score[j] if start + lane < m else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# wrong-result, part-not-shrunk: Shrinks the values, and forgets the sum they are divided by.
@cuda.jit
def part_not_shrunk(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    start = 0
    while start < m:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            s = score[j] if start + lane < m else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# wrong-result, maximum-not-carried: Takes the largest score of the tile, as if there were one tile.
@cuda.jit
def maximum_of_each_tile(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    start = 0
    while start < m:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            s = score[j] if start + lane < m else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            p = math.exp(s - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] + p
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# wrong-result, overflow: Takes the exponentials as they are.
@cuda.jit
def no_maximum(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    start = 0
    while start < m:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            s = score[j] if start + lane < m else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = float32(0)
            p = math.exp(s - new)
            shrink = float32(1)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# wrong-result, tiles-averaged: Makes a softmax of each tile, and takes the mean of what comes out.
@cuda.jit
def each_tile_divided(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    done = cuda.local.array(EACH, float32)
    whole = cuda.local.array(EACH, float32)
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
        done[j] = float32(0)
        whole[j] = float32(0)
    start = 0
    while start < m:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            s = score[j] if start + lane < m else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        for j in range(EACH):
            total = part[j]
            for bit in range(5):
                total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
            done[j] += sums[j] / total
            sums[j] = float32(0)
            part[j] = float32(0)
            most[j] = LOWEST
            whole[j] += total * math.exp(new)
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = done[j] / float32((m + TILE - 1) // TILE) if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# wrong-result, not-divided: Stores the weighted sum of the values as it is.
@cuda.jit
def not_divided(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    start = 0
    while start < m:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            s = score[j] if start + lane < m else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# wrong-result, own-lane: Divides by the weights of the keys that this very lane has met.
@cuda.jit
def divided_by_the_lane(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    start = 0
    while start < m:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            s = score[j] if start + lane < m else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += float32(0)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# wrong-result, lse-without-maximum: Forgets what was taken from the scores.
@cuda.jit
def lse_without_the_maximum(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    start = 0
    while start < m:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            s = score[j] if start + lane < m else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = math.log(total) if some else NOTHING


# wrong-result, lse-without-log: Stores the sum of the exponentials.
@cuda.jit
def lse_without_the_log(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    start = 0
    while start < m:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            s = score[j] if start + lane < m else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = total * math.exp(most[j]) if some else NOTHING


# wrong-result, padding-counted: Fills the last tile with zeros, and forgets that exp(0) is 1.
@cuda.jit
def counts_past_the_keys(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    start = 0
    while start < m:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            s = score[j]
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# wrong-result, nan-of-infinities: Begins the search for the largest with minus infinity.
@cuda.jit
def begins_with_infinity(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = NOTHING
        part[j] = float32(0)
        sums[j] = float32(0)
    start = 0
    while start < m:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            s = score[j] if start + lane < m else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# wrong-result, began-too-high: Begins the search for the largest with 0.
@cuda.jit
def begins_with_zero(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = float32(0)
        part[j] = float32(0)
        sums[j] = float32(0)
    start = 0
    while start < m:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            s = score[j] if start + lane < m else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# wrong-result, no-key: Divides by the sum of the weights, whatever it is.
@cuda.jit
def divides_by_nothing(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    start = 0
    while start < m:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            s = score[j] if start + lane < m else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total
            if lane == 0:
                lse[row] = most[j] + math.log(total)


# hazard, race: Brings the next tile while other warps still read this one.
@cuda.jit
def no_barrier_before_the_next_tile(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    start = 0
    while start < m:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            s = score[j] if start + lane < m else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# hazard, out-of-bounds: Takes every tile for a full one.
@cuda.jit
def no_guard(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    start = 0
    while start < m:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane]
            values[j] = v[key, lane]
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            s = score[j] if start + lane < m else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# over-budget, not-shared: Lets one lane store all channels of a query.
@cuda.jit
def one_thread_stores(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    start = 0
    while start < m:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            s = score[j] if start + lane < m else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        cuda.syncwarp()
        if row < n:
            p_tile[top + j, lane] = sums[j] / total if some else float32(0)
        cuda.syncwarp()
        if row < n:
            if lane == 0:
                for c in range(D):
                    out[row, c] = p_tile[top + j, c]
                lse[row] = most[j] + math.log(total) if some else NOTHING


# over-budget, over-budget: Lets each warp read the keys and values it needs from global memory.
@cuda.jit
def keys_for_each_query(out, lse, q, k, v, n, m, scale):
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    for j in range(EACH):
        row = first + top + j
        if row < n:
            query = q[row, lane] * scale
            most = LOWEST
            part = float32(0)
            sums = float32(0)
            for key in range(m):
                s = query * k[key, lane]
                for bit in range(5):
                    s += cuda.shfl_xor_sync(ALL_LANES, s, 1 << bit)
                new = max(most, s)
                p = math.exp(s - new)
                shrink = math.exp(most - new)
                part = part * shrink + p
                sums = sums * shrink + p * v[key, lane]
                most = new
            some = part != float32(0)
            out[row, lane] = sums / part if some else float32(0)
            if lane == 0:
                lse[row] = most + math.log(part) if some else NOTHING


# over-budget, not-shared: Gives each query to one thread, which needs no other.
@cuda.jit
def a_thread_for_each_query(out, lse, q, k, v, n, m, scale):
    k_tile = cuda.shared.array((TILE, D), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    query = cuda.local.array(D, float32)
    sums = cuda.local.array(D, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    warp = uint32(cuda.threadIdx.x) // 32
    row = uint32(cuda.blockIdx.x) * ROWS + lane
    mine = warp == 0 and row < n
    for c in range(D):
        query[c] = q[row, c] * scale if mine else float32(0)
        sums[c] = float32(0)
    most = LOWEST
    part = float32(0)
    for start in range(0, m, TILE):
        cuda.syncthreads()
        for j in range(EACH):
            key = start + warp * EACH + j
            if key < m:
                k_tile[warp * EACH + j, lane] = k[key, lane]
                v_tile[warp * EACH + j, lane] = v[key, lane]
        cuda.syncthreads()
        if mine:
            for key in range(min(TILE, m - start)):
                s = float32(0)
                for c in range(D):
                    s += query[c] * k_tile[key, c]
                new = max(most, s)
                p = math.exp(s - new)
                shrink = math.exp(most - new)
                part = part * shrink + p
                for c in range(D):
                    sums[c] = sums[c] * shrink + p * v_tile[key, c]
                most = new
    if mine:
        some = part != float32(0)
        for c in range(D):
            out[row, c] = sums[c] / part if some else float32(0)
        lse[row] = most + math.log(part) if some else NOTHING


# over-budget, over-budget: Gives the tile of keys rows of D numbers.
@cuda.jit
def tile_not_padded(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, D), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    start = 0
    while start < m:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            s = score[j] if start + lane < m else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING

"""Wrong answers to flash_backward that learners give."""

import math

from numba import cuda, float32, uint32

D = 32
ROWS = 32
TILE = 32
PADDED = 33
EACH = 4
ALL_LANES = 0xFFFFFFFF
INFINITY = float32(math.inf)


# wrong-result, delta-forgotten: Multiplies the weight with the slope of out alone.
@cuda.jit
def dq_without_delta(dq, delta, dout, out, q, k, v, lse, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    dout_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, PADDED), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    log = cuda.local.array(EACH, float32)
    less = cuda.local.array(EACH, float32)
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        grad = dout[row, lane] if inside else float32(0)
        less[j] = grad * out[row, lane] if inside else float32(0)
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        dout_tile[top + j, lane] = grad
        log[j] = lse[row] if inside else INFINITY
        if log[j] == -INFINITY:
            log[j] = INFINITY
        sums[j] = float32(0)
    for j in range(EACH):
        for bit in range(5):
            less[j] += cuda.shfl_xor_sync(ALL_LANES, less[j], 1 << bit)
        row = first + top + j
        if row < n and lane == 0:
            delta[row] = less[j]
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
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            key = k_tile[lane, c]
            value = v_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * key
                slope[j] += dout_tile[top + j, c] * value
        for j in range(EACH):
            p = math.exp(score[j] - log[j])
            ds = p * slope[j]
            ds_tile[top + j, lane] = ds if start + lane < m else float32(0)
        cuda.syncwarp()
        for i in range(TILE):
            key = k_tile[i, lane]
            for j in range(EACH):
                sums[j] += ds_tile[top + j, i] * key
        start += TILE
    for j in range(EACH):
        row = first + top + j
        if row < n:
            dq[row, lane] = sums[j] * scale


# wrong-result, delta-forgotten, for flash_backward_dkv: Takes the slope of out alone.
@cuda.jit
def dk_without_delta(dk, dv, dout, q, k, v, lse, delta, n, m, scale):
    k_tile = cuda.shared.array((ROWS, D), float32)
    v_tile = cuda.shared.array((ROWS, D), float32)
    q_tile = cuda.shared.array((TILE, PADDED), float32)
    dout_tile = cuda.shared.array((TILE, PADDED), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums_k = cuda.local.array(EACH, float32)
    sums_v = cuda.local.array(EACH, float32)
    queries = cuda.local.array(EACH, float32)
    grads = cuda.local.array(EACH, float32)
    for j in range(EACH):
        key = first + top + j
        inside = key < m
        k_tile[top + j, lane] = k[key, lane] * scale if inside else float32(0)
        v_tile[top + j, lane] = v[key, lane] if inside else float32(0)
        sums_k[j] = float32(0)
        sums_v[j] = float32(0)
    start = 0
    while start < n:
        for j in range(EACH):
            row = uint32(start + top + j)
            queries[j] = q[row, lane] if row < n else float32(0)
            grads[j] = dout[row, lane] if row < n else float32(0)
        mine = uint32(start + lane)
        log = lse[mine] if mine < n else INFINITY
        less = delta[mine] if mine < n else float32(0)
        if log == -INFINITY:
            log = INFINITY
        cuda.syncthreads()
        for j in range(EACH):
            q_tile[top + j, lane] = queries[j]
            dout_tile[top + j, lane] = grads[j]
            score[j] = float32(0)
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            query = q_tile[lane, c]
            grad = dout_tile[lane, c]
            for j in range(EACH):
                score[j] += k_tile[top + j, c] * query
                slope[j] += v_tile[top + j, c] * grad
        for j in range(EACH):
            p = math.exp(score[j] - log)
            p_tile[top + j, lane] = p
            ds_tile[top + j, lane] = p * slope[j]
        cuda.syncwarp()
        for i in range(TILE):
            query = q_tile[i, lane]
            grad = dout_tile[i, lane]
            for j in range(EACH):
                sums_k[j] += ds_tile[top + j, i] * query
                sums_v[j] += p_tile[top + j, i] * grad
        start += TILE
    for j in range(EACH):
        key = first + top + j
        if key < m:
            dk[key, lane] = sums_k[j] * scale
            dv[key, lane] = sums_v[j]


# wrong-result, gradient-not-scaled: Scales the scores, and forgets their slope.
@cuda.jit
def dq_not_scaled(dq, delta, dout, out, q, k, v, lse, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    dout_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, PADDED), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    log = cuda.local.array(EACH, float32)
    less = cuda.local.array(EACH, float32)
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        grad = dout[row, lane] if inside else float32(0)
        less[j] = grad * out[row, lane] if inside else float32(0)
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        dout_tile[top + j, lane] = grad
        log[j] = lse[row] if inside else INFINITY
        if log[j] == -INFINITY:
            log[j] = INFINITY
        sums[j] = float32(0)
    for j in range(EACH):
        for bit in range(5):
            less[j] += cuda.shfl_xor_sync(ALL_LANES, less[j], 1 << bit)
        row = first + top + j
        if row < n and lane == 0:
            delta[row] = less[j]
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
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            key = k_tile[lane, c]
            value = v_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * key
                slope[j] += dout_tile[top + j, c] * value
        for j in range(EACH):
            p = math.exp(score[j] - log[j])
            ds = p * (slope[j] - less[j])
            ds_tile[top + j, lane] = ds if start + lane < m else float32(0)
        cuda.syncwarp()
        for i in range(TILE):
            key = k_tile[i, lane]
            for j in range(EACH):
                sums[j] += ds_tile[top + j, i] * key
        start += TILE
    for j in range(EACH):
        row = first + top + j
        if row < n:
            dq[row, lane] = sums[j]


# wrong-result, gradient-not-scaled, for flash_backward_dkv: Forgets the slope of the scores.
@cuda.jit
def dk_not_scaled(dk, dv, dout, q, k, v, lse, delta, n, m, scale):
    k_tile = cuda.shared.array((ROWS, D), float32)
    v_tile = cuda.shared.array((ROWS, D), float32)
    q_tile = cuda.shared.array((TILE, PADDED), float32)
    dout_tile = cuda.shared.array((TILE, PADDED), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums_k = cuda.local.array(EACH, float32)
    sums_v = cuda.local.array(EACH, float32)
    queries = cuda.local.array(EACH, float32)
    grads = cuda.local.array(EACH, float32)
    for j in range(EACH):
        key = first + top + j
        inside = key < m
        k_tile[top + j, lane] = k[key, lane] * scale if inside else float32(0)
        v_tile[top + j, lane] = v[key, lane] if inside else float32(0)
        sums_k[j] = float32(0)
        sums_v[j] = float32(0)
    start = 0
    while start < n:
        for j in range(EACH):
            row = uint32(start + top + j)
            queries[j] = q[row, lane] if row < n else float32(0)
            grads[j] = dout[row, lane] if row < n else float32(0)
        mine = uint32(start + lane)
        log = lse[mine] if mine < n else INFINITY
        less = delta[mine] if mine < n else float32(0)
        if log == -INFINITY:
            log = INFINITY
        cuda.syncthreads()
        for j in range(EACH):
            q_tile[top + j, lane] = queries[j]
            dout_tile[top + j, lane] = grads[j]
            score[j] = float32(0)
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            query = q_tile[lane, c]
            grad = dout_tile[lane, c]
            for j in range(EACH):
                score[j] += k_tile[top + j, c] * query
                slope[j] += v_tile[top + j, c] * grad
        for j in range(EACH):
            p = math.exp(score[j] - log)
            p_tile[top + j, lane] = p
            ds_tile[top + j, lane] = p * (slope[j] - less)
        cuda.syncwarp()
        for i in range(TILE):
            query = q_tile[i, lane]
            grad = dout_tile[i, lane]
            for j in range(EACH):
                sums_k[j] += ds_tile[top + j, i] * query
                sums_v[j] += p_tile[top + j, i] * grad
        start += TILE
    for j in range(EACH):
        key = first + top + j
        if key < m:
            dk[key, lane] = sums_k[j]
            dv[key, lane] = sums_v[j]


# wrong-result, scaled-twice: Sums up the keys of a tile that are scaled already.
@cuda.jit
def dq_scaled_twice(dq, delta, dout, out, q, k, v, lse, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    dout_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, PADDED), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    log = cuda.local.array(EACH, float32)
    less = cuda.local.array(EACH, float32)
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        grad = dout[row, lane] if inside else float32(0)
        less[j] = grad * out[row, lane] if inside else float32(0)
        q_tile[top + j, lane] = q[row, lane] if inside else float32(0)
        dout_tile[top + j, lane] = grad
        log[j] = lse[row] if inside else INFINITY
        if log[j] == -INFINITY:
            log[j] = INFINITY
        sums[j] = float32(0)
    for j in range(EACH):
        for bit in range(5):
            less[j] += cuda.shfl_xor_sync(ALL_LANES, less[j], 1 << bit)
        row = first + top + j
        if row < n and lane == 0:
            delta[row] = less[j]
    start = 0
    while start < m:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j] * scale
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            key = k_tile[lane, c]
            value = v_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * key
                slope[j] += dout_tile[top + j, c] * value
        for j in range(EACH):
            p = math.exp(score[j] - log[j])
            ds = p * (slope[j] - less[j])
            ds_tile[top + j, lane] = ds if start + lane < m else float32(0)
        cuda.syncwarp()
        for i in range(TILE):
            key = k_tile[i, lane]
            for j in range(EACH):
                sums[j] += ds_tile[top + j, i] * key
        start += TILE
    for j in range(EACH):
        row = first + top + j
        if row < n:
            dq[row, lane] = sums[j] * scale


# wrong-result, scaled-twice, for flash_backward_dkv: Sums up scaled queries.
@cuda.jit
def dk_scaled_twice(dk, dv, dout, q, k, v, lse, delta, n, m, scale):
    k_tile = cuda.shared.array((ROWS, D), float32)
    v_tile = cuda.shared.array((ROWS, D), float32)
    q_tile = cuda.shared.array((TILE, PADDED), float32)
    dout_tile = cuda.shared.array((TILE, PADDED), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums_k = cuda.local.array(EACH, float32)
    sums_v = cuda.local.array(EACH, float32)
    queries = cuda.local.array(EACH, float32)
    grads = cuda.local.array(EACH, float32)
    for j in range(EACH):
        key = first + top + j
        inside = key < m
        k_tile[top + j, lane] = k[key, lane] if inside else float32(0)
        v_tile[top + j, lane] = v[key, lane] if inside else float32(0)
        sums_k[j] = float32(0)
        sums_v[j] = float32(0)
    start = 0
    while start < n:
        for j in range(EACH):
            row = uint32(start + top + j)
            queries[j] = q[row, lane] if row < n else float32(0)
            grads[j] = dout[row, lane] if row < n else float32(0)
        mine = uint32(start + lane)
        log = lse[mine] if mine < n else INFINITY
        less = delta[mine] if mine < n else float32(0)
        if log == -INFINITY:
            log = INFINITY
        cuda.syncthreads()
        for j in range(EACH):
            q_tile[top + j, lane] = queries[j] * scale
            dout_tile[top + j, lane] = grads[j]
            score[j] = float32(0)
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            query = q_tile[lane, c]
            grad = dout_tile[lane, c]
            for j in range(EACH):
                score[j] += k_tile[top + j, c] * query
                slope[j] += v_tile[top + j, c] * grad
        for j in range(EACH):
            p = math.exp(score[j] - log)
            p_tile[top + j, lane] = p
            ds_tile[top + j, lane] = p * (slope[j] - less)
        cuda.syncwarp()
        for i in range(TILE):
            query = q_tile[i, lane]
            grad = dout_tile[i, lane]
            for j in range(EACH):
                sums_k[j] += ds_tile[top + j, i] * query
                sums_v[j] += p_tile[top + j, i] * grad
        start += TILE
    for j in range(EACH):
        key = first + top + j
        if key < m:
            dk[key, lane] = sums_k[j] * scale
            dv[key, lane] = sums_v[j]


# wrong-result, scores-not-scaled: Takes the dot product for the score.
@cuda.jit
def scores_not_scaled(dq, delta, dout, out, q, k, v, lse, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    dout_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, PADDED), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    log = cuda.local.array(EACH, float32)
    less = cuda.local.array(EACH, float32)
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        grad = dout[row, lane] if inside else float32(0)
        less[j] = grad * out[row, lane] if inside else float32(0)
        q_tile[top + j, lane] = q[row, lane] if inside else float32(0)
        dout_tile[top + j, lane] = grad
        log[j] = lse[row] if inside else INFINITY
        if log[j] == -INFINITY:
            log[j] = INFINITY
        sums[j] = float32(0)
    for j in range(EACH):
        for bit in range(5):
            less[j] += cuda.shfl_xor_sync(ALL_LANES, less[j], 1 << bit)
        row = first + top + j
        if row < n and lane == 0:
            delta[row] = less[j]
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
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            key = k_tile[lane, c]
            value = v_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * key
                slope[j] += dout_tile[top + j, c] * value
        for j in range(EACH):
            p = math.exp(score[j] - log[j])
            ds = p * (slope[j] - less[j])
            ds_tile[top + j, lane] = ds if start + lane < m else float32(0)
        cuda.syncwarp()
        for i in range(TILE):
            key = k_tile[i, lane]
            for j in range(EACH):
                sums[j] += ds_tile[top + j, i] * key
        start += TILE
    for j in range(EACH):
        row = first + top + j
        if row < n:
            dq[row, lane] = sums[j] * scale


# wrong-result, scores-not-scaled, for flash_backward_dkv: Takes the dot product for the score.
@cuda.jit
def dkv_scores_not_scaled(dk, dv, dout, q, k, v, lse, delta, n, m, scale):
    k_tile = cuda.shared.array((ROWS, D), float32)
    v_tile = cuda.shared.array((ROWS, D), float32)
    q_tile = cuda.shared.array((TILE, PADDED), float32)
    dout_tile = cuda.shared.array((TILE, PADDED), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums_k = cuda.local.array(EACH, float32)
    sums_v = cuda.local.array(EACH, float32)
    queries = cuda.local.array(EACH, float32)
    grads = cuda.local.array(EACH, float32)
    for j in range(EACH):
        key = first + top + j
        inside = key < m
        k_tile[top + j, lane] = k[key, lane] if inside else float32(0)
        v_tile[top + j, lane] = v[key, lane] if inside else float32(0)
        sums_k[j] = float32(0)
        sums_v[j] = float32(0)
    start = 0
    while start < n:
        for j in range(EACH):
            row = uint32(start + top + j)
            queries[j] = q[row, lane] if row < n else float32(0)
            grads[j] = dout[row, lane] if row < n else float32(0)
        mine = uint32(start + lane)
        log = lse[mine] if mine < n else INFINITY
        less = delta[mine] if mine < n else float32(0)
        if log == -INFINITY:
            log = INFINITY
        cuda.syncthreads()
        for j in range(EACH):
            q_tile[top + j, lane] = queries[j]
            dout_tile[top + j, lane] = grads[j]
            score[j] = float32(0)
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            query = q_tile[lane, c]
            grad = dout_tile[lane, c]
            for j in range(EACH):
                score[j] += k_tile[top + j, c] * query
                slope[j] += v_tile[top + j, c] * grad
        for j in range(EACH):
            p = math.exp(score[j] - log)
            p_tile[top + j, lane] = p
            ds_tile[top + j, lane] = p * (slope[j] - less)
        cuda.syncwarp()
        for i in range(TILE):
            query = q_tile[i, lane]
            grad = dout_tile[i, lane]
            for j in range(EACH):
                sums_k[j] += ds_tile[top + j, i] * query
                sums_v[j] += p_tile[top + j, i] * grad
        start += TILE
    for j in range(EACH):
        key = first + top + j
        if key < m:
            dk[key, lane] = sums_k[j] * scale
            dv[key, lane] = sums_v[j]


# wrong-result, lse-forgotten: Takes the exponential for the weight.
@cuda.jit
def dq_without_lse(dq, delta, dout, out, q, k, v, lse, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    dout_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, PADDED), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    log = cuda.local.array(EACH, float32)
    less = cuda.local.array(EACH, float32)
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        grad = dout[row, lane] if inside else float32(0)
        less[j] = grad * out[row, lane] if inside else float32(0)
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        dout_tile[top + j, lane] = grad
        log[j] = lse[row] if inside else INFINITY
        if log[j] == -INFINITY:
            log[j] = INFINITY
        sums[j] = float32(0)
    for j in range(EACH):
        for bit in range(5):
            less[j] += cuda.shfl_xor_sync(ALL_LANES, less[j], 1 << bit)
        row = first + top + j
        if row < n and lane == 0:
            delta[row] = less[j]
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
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            key = k_tile[lane, c]
            value = v_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * key
                slope[j] += dout_tile[top + j, c] * value
        for j in range(EACH):
            p = math.exp(score[j])
            ds = p * (slope[j] - less[j])
            ds_tile[top + j, lane] = ds if start + lane < m else float32(0)
        cuda.syncwarp()
        for i in range(TILE):
            key = k_tile[i, lane]
            for j in range(EACH):
                sums[j] += ds_tile[top + j, i] * key
        start += TILE
    for j in range(EACH):
        row = first + top + j
        if row < n:
            dq[row, lane] = sums[j] * scale


# wrong-result, lse-forgotten, for flash_backward_dkv: Takes the exponential for the weight.
@cuda.jit
def dkv_without_lse(dk, dv, dout, q, k, v, lse, delta, n, m, scale):
    k_tile = cuda.shared.array((ROWS, D), float32)
    v_tile = cuda.shared.array((ROWS, D), float32)
    q_tile = cuda.shared.array((TILE, PADDED), float32)
    dout_tile = cuda.shared.array((TILE, PADDED), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums_k = cuda.local.array(EACH, float32)
    sums_v = cuda.local.array(EACH, float32)
    queries = cuda.local.array(EACH, float32)
    grads = cuda.local.array(EACH, float32)
    for j in range(EACH):
        key = first + top + j
        inside = key < m
        k_tile[top + j, lane] = k[key, lane] * scale if inside else float32(0)
        v_tile[top + j, lane] = v[key, lane] if inside else float32(0)
        sums_k[j] = float32(0)
        sums_v[j] = float32(0)
    start = 0
    while start < n:
        for j in range(EACH):
            row = uint32(start + top + j)
            queries[j] = q[row, lane] if row < n else float32(0)
            grads[j] = dout[row, lane] if row < n else float32(0)
        mine = uint32(start + lane)
        log = lse[mine] if mine < n else INFINITY
        less = delta[mine] if mine < n else float32(0)
        if log == -INFINITY:
            log = INFINITY
        cuda.syncthreads()
        for j in range(EACH):
            q_tile[top + j, lane] = queries[j]
            dout_tile[top + j, lane] = grads[j]
            score[j] = float32(0)
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            query = q_tile[lane, c]
            grad = dout_tile[lane, c]
            for j in range(EACH):
                score[j] += k_tile[top + j, c] * query
                slope[j] += v_tile[top + j, c] * grad
        for j in range(EACH):
            p = math.exp(score[j])
            p_tile[top + j, lane] = p
            ds_tile[top + j, lane] = p * (slope[j] - less)
        cuda.syncwarp()
        for i in range(TILE):
            query = q_tile[i, lane]
            grad = dout_tile[i, lane]
            for j in range(EACH):
                sums_k[j] += ds_tile[top + j, i] * query
                sums_v[j] += p_tile[top + j, i] * grad
        start += TILE
    for j in range(EACH):
        key = first + top + j
        if key < m:
            dk[key, lane] = sums_k[j] * scale
            dv[key, lane] = sums_v[j]


# wrong-result, swapped, for flash_backward_dkv: Stores the two sums in the wrong order.
@cuda.jit
def dk_and_dv_swapped(dk, dv, dout, q, k, v, lse, delta, n, m, scale):
    k_tile = cuda.shared.array((ROWS, D), float32)
    v_tile = cuda.shared.array((ROWS, D), float32)
    q_tile = cuda.shared.array((TILE, PADDED), float32)
    dout_tile = cuda.shared.array((TILE, PADDED), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums_k = cuda.local.array(EACH, float32)
    sums_v = cuda.local.array(EACH, float32)
    queries = cuda.local.array(EACH, float32)
    grads = cuda.local.array(EACH, float32)
    for j in range(EACH):
        key = first + top + j
        inside = key < m
        k_tile[top + j, lane] = k[key, lane] * scale if inside else float32(0)
        v_tile[top + j, lane] = v[key, lane] if inside else float32(0)
        sums_k[j] = float32(0)
        sums_v[j] = float32(0)
    start = 0
    while start < n:
        for j in range(EACH):
            row = uint32(start + top + j)
            queries[j] = q[row, lane] if row < n else float32(0)
            grads[j] = dout[row, lane] if row < n else float32(0)
        mine = uint32(start + lane)
        log = lse[mine] if mine < n else INFINITY
        less = delta[mine] if mine < n else float32(0)
        if log == -INFINITY:
            log = INFINITY
        cuda.syncthreads()
        for j in range(EACH):
            q_tile[top + j, lane] = queries[j]
            dout_tile[top + j, lane] = grads[j]
            score[j] = float32(0)
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            query = q_tile[lane, c]
            grad = dout_tile[lane, c]
            for j in range(EACH):
                score[j] += k_tile[top + j, c] * query
                slope[j] += v_tile[top + j, c] * grad
        for j in range(EACH):
            p = math.exp(score[j] - log)
            p_tile[top + j, lane] = p
            ds_tile[top + j, lane] = p * (slope[j] - less)
        cuda.syncwarp()
        for i in range(TILE):
            query = q_tile[i, lane]
            grad = dout_tile[i, lane]
            for j in range(EACH):
                sums_k[j] += ds_tile[top + j, i] * query
                sums_v[j] += p_tile[top + j, i] * grad
        start += TILE
    for j in range(EACH):
        key = first + top + j
        if key < m:
            dv[key, lane] = sums_k[j] * scale
            dk[key, lane] = sums_v[j]


# wrong-result, dv-from-ds, for flash_backward_dkv: Sums up both gradients with ds.
@cuda.jit
def dv_from_ds(dk, dv, dout, q, k, v, lse, delta, n, m, scale):
    k_tile = cuda.shared.array((ROWS, D), float32)
    v_tile = cuda.shared.array((ROWS, D), float32)
    q_tile = cuda.shared.array((TILE, PADDED), float32)
    dout_tile = cuda.shared.array((TILE, PADDED), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums_k = cuda.local.array(EACH, float32)
    sums_v = cuda.local.array(EACH, float32)
    queries = cuda.local.array(EACH, float32)
    grads = cuda.local.array(EACH, float32)
    for j in range(EACH):
        key = first + top + j
        inside = key < m
        k_tile[top + j, lane] = k[key, lane] * scale if inside else float32(0)
        v_tile[top + j, lane] = v[key, lane] if inside else float32(0)
        sums_k[j] = float32(0)
        sums_v[j] = float32(0)
    start = 0
    while start < n:
        for j in range(EACH):
            row = uint32(start + top + j)
            queries[j] = q[row, lane] if row < n else float32(0)
            grads[j] = dout[row, lane] if row < n else float32(0)
        mine = uint32(start + lane)
        log = lse[mine] if mine < n else INFINITY
        less = delta[mine] if mine < n else float32(0)
        if log == -INFINITY:
            log = INFINITY
        cuda.syncthreads()
        for j in range(EACH):
            q_tile[top + j, lane] = queries[j]
            dout_tile[top + j, lane] = grads[j]
            score[j] = float32(0)
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            query = q_tile[lane, c]
            grad = dout_tile[lane, c]
            for j in range(EACH):
                score[j] += k_tile[top + j, c] * query
                slope[j] += v_tile[top + j, c] * grad
        for j in range(EACH):
            p = math.exp(score[j] - log)
            p_tile[top + j, lane] = p
            ds_tile[top + j, lane] = p * (slope[j] - less)
        cuda.syncwarp()
        for i in range(TILE):
            query = q_tile[i, lane]
            grad = dout_tile[i, lane]
            for j in range(EACH):
                sums_k[j] += ds_tile[top + j, i] * query
                sums_v[j] += ds_tile[top + j, i] * grad
        start += TILE
    for j in range(EACH):
        key = first + top + j
        if key < m:
            dk[key, lane] = sums_k[j] * scale
            dv[key, lane] = sums_v[j]


# wrong-result, dk-from-p, for flash_backward_dkv: Sums up both gradients with the weights.
@cuda.jit
def dk_from_p(dk, dv, dout, q, k, v, lse, delta, n, m, scale):
    k_tile = cuda.shared.array((ROWS, D), float32)
    v_tile = cuda.shared.array((ROWS, D), float32)
    q_tile = cuda.shared.array((TILE, PADDED), float32)
    dout_tile = cuda.shared.array((TILE, PADDED), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums_k = cuda.local.array(EACH, float32)
    sums_v = cuda.local.array(EACH, float32)
    queries = cuda.local.array(EACH, float32)
    grads = cuda.local.array(EACH, float32)
    for j in range(EACH):
        key = first + top + j
        inside = key < m
        k_tile[top + j, lane] = k[key, lane] * scale if inside else float32(0)
        v_tile[top + j, lane] = v[key, lane] if inside else float32(0)
        sums_k[j] = float32(0)
        sums_v[j] = float32(0)
    start = 0
    while start < n:
        for j in range(EACH):
            row = uint32(start + top + j)
            queries[j] = q[row, lane] if row < n else float32(0)
            grads[j] = dout[row, lane] if row < n else float32(0)
        mine = uint32(start + lane)
        log = lse[mine] if mine < n else INFINITY
        less = delta[mine] if mine < n else float32(0)
        if log == -INFINITY:
            log = INFINITY
        cuda.syncthreads()
        for j in range(EACH):
            q_tile[top + j, lane] = queries[j]
            dout_tile[top + j, lane] = grads[j]
            score[j] = float32(0)
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            query = q_tile[lane, c]
            grad = dout_tile[lane, c]
            for j in range(EACH):
                score[j] += k_tile[top + j, c] * query
                slope[j] += v_tile[top + j, c] * grad
        for j in range(EACH):
            p = math.exp(score[j] - log)
            p_tile[top + j, lane] = p
            ds_tile[top + j, lane] = p * (slope[j] - less)
        cuda.syncwarp()
        for i in range(TILE):
            query = q_tile[i, lane]
            grad = dout_tile[i, lane]
            for j in range(EACH):
                sums_k[j] += p_tile[top + j, i] * query
                sums_v[j] += p_tile[top + j, i] * grad
        start += TILE
    for j in range(EACH):
        key = first + top + j
        if key < m:
            dk[key, lane] = sums_k[j] * scale
            dv[key, lane] = sums_v[j]


# wrong-result, own-lane: Takes the lane's own product for the sum.
@cuda.jit
def delta_of_one_channel(dq, delta, dout, out, q, k, v, lse, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    dout_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, PADDED), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    log = cuda.local.array(EACH, float32)
    less = cuda.local.array(EACH, float32)
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        grad = dout[row, lane] if inside else float32(0)
        less[j] = grad * out[row, lane] if inside else float32(0)
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        dout_tile[top + j, lane] = grad
        log[j] = lse[row] if inside else INFINITY
        if log[j] == -INFINITY:
            log[j] = INFINITY
        sums[j] = float32(0)
    for j in range(EACH):
        for bit in range(5):
            less[j] += float32(0)
        row = first + top + j
        if row < n and lane == 0:
            delta[row] = less[j]
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
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            key = k_tile[lane, c]
            value = v_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * key
                slope[j] += dout_tile[top + j, c] * value
        for j in range(EACH):
            p = math.exp(score[j] - log[j])
            ds = p * (slope[j] - less[j])
            ds_tile[top + j, lane] = ds if start + lane < m else float32(0)
        cuda.syncwarp()
        for i in range(TILE):
            key = k_tile[i, lane]
            for j in range(EACH):
                sums[j] += ds_tile[top + j, i] * key
        start += TILE
    for j in range(EACH):
        row = first + top + j
        if row < n:
            dq[row, lane] = sums[j] * scale


# wrong-result, padding-overflows: Relies on the zeros that fill the last tile.
@cuda.jit
def counts_past_the_keys(dq, delta, dout, out, q, k, v, lse, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    dout_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, PADDED), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    log = cuda.local.array(EACH, float32)
    less = cuda.local.array(EACH, float32)
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        grad = dout[row, lane] if inside else float32(0)
        less[j] = grad * out[row, lane] if inside else float32(0)
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        dout_tile[top + j, lane] = grad
        log[j] = lse[row] if inside else INFINITY
        if log[j] == -INFINITY:
            log[j] = INFINITY
        sums[j] = float32(0)
    for j in range(EACH):
        for bit in range(5):
            less[j] += cuda.shfl_xor_sync(ALL_LANES, less[j], 1 << bit)
        row = first + top + j
        if row < n and lane == 0:
            delta[row] = less[j]
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
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            key = k_tile[lane, c]
            value = v_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * key
                slope[j] += dout_tile[top + j, c] * value
        for j in range(EACH):
            p = math.exp(score[j] - log[j])
            ds = p * (slope[j] - less[j])
            ds_tile[top + j, lane] = ds
        cuda.syncwarp()
        for i in range(TILE):
            key = k_tile[i, lane]
            for j in range(EACH):
                sums[j] += ds_tile[top + j, i] * key
        start += TILE
    for j in range(EACH):
        row = first + top + j
        if row < n:
            dq[row, lane] = sums[j] * scale


# wrong-result, nan-of-infinities: Takes lse as it is.
@cuda.jit
def dq_of_minus_infinity(dq, delta, dout, out, q, k, v, lse, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    dout_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, PADDED), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    log = cuda.local.array(EACH, float32)
    less = cuda.local.array(EACH, float32)
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        grad = dout[row, lane] if inside else float32(0)
        less[j] = grad * out[row, lane] if inside else float32(0)
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        dout_tile[top + j, lane] = grad
        log[j] = lse[row] if inside else INFINITY
        sums[j] = float32(0)
    for j in range(EACH):
        for bit in range(5):
            less[j] += cuda.shfl_xor_sync(ALL_LANES, less[j], 1 << bit)
        row = first + top + j
        if row < n and lane == 0:
            delta[row] = less[j]
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
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            key = k_tile[lane, c]
            value = v_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * key
                slope[j] += dout_tile[top + j, c] * value
        for j in range(EACH):
            p = math.exp(score[j] - log[j])
            ds = p * (slope[j] - less[j])
            ds_tile[top + j, lane] = ds if start + lane < m else float32(0)
        cuda.syncwarp()
        for i in range(TILE):
            key = k_tile[i, lane]
            for j in range(EACH):
                sums[j] += ds_tile[top + j, i] * key
        start += TILE
    for j in range(EACH):
        row = first + top + j
        if row < n:
            dq[row, lane] = sums[j] * scale


# wrong-result, nan-of-infinities, for flash_backward_dkv: Takes lse as it is.
@cuda.jit
def dkv_of_minus_infinity(dk, dv, dout, q, k, v, lse, delta, n, m, scale):
    k_tile = cuda.shared.array((ROWS, D), float32)
    v_tile = cuda.shared.array((ROWS, D), float32)
    q_tile = cuda.shared.array((TILE, PADDED), float32)
    dout_tile = cuda.shared.array((TILE, PADDED), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums_k = cuda.local.array(EACH, float32)
    sums_v = cuda.local.array(EACH, float32)
    queries = cuda.local.array(EACH, float32)
    grads = cuda.local.array(EACH, float32)
    for j in range(EACH):
        key = first + top + j
        inside = key < m
        k_tile[top + j, lane] = k[key, lane] * scale if inside else float32(0)
        v_tile[top + j, lane] = v[key, lane] if inside else float32(0)
        sums_k[j] = float32(0)
        sums_v[j] = float32(0)
    start = 0
    while start < n:
        for j in range(EACH):
            row = uint32(start + top + j)
            queries[j] = q[row, lane] if row < n else float32(0)
            grads[j] = dout[row, lane] if row < n else float32(0)
        mine = uint32(start + lane)
        log = lse[mine] if mine < n else INFINITY
        less = delta[mine] if mine < n else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            q_tile[top + j, lane] = queries[j]
            dout_tile[top + j, lane] = grads[j]
            score[j] = float32(0)
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            query = q_tile[lane, c]
            grad = dout_tile[lane, c]
            for j in range(EACH):
                score[j] += k_tile[top + j, c] * query
                slope[j] += v_tile[top + j, c] * grad
        for j in range(EACH):
            p = math.exp(score[j] - log)
            p_tile[top + j, lane] = p
            ds_tile[top + j, lane] = p * (slope[j] - less)
        cuda.syncwarp()
        for i in range(TILE):
            query = q_tile[i, lane]
            grad = dout_tile[i, lane]
            for j in range(EACH):
                sums_k[j] += ds_tile[top + j, i] * query
                sums_v[j] += p_tile[top + j, i] * grad
        start += TILE
    for j in range(EACH):
        key = first + top + j
        if key < m:
            dk[key, lane] = sums_k[j] * scale
            dv[key, lane] = sums_v[j]


# hazard, race: Brings the next tile while other warps still read this one.
@cuda.jit
def no_barrier_before_the_next_tile(dq, delta, dout, out, q, k, v, lse, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    dout_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, PADDED), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    log = cuda.local.array(EACH, float32)
    less = cuda.local.array(EACH, float32)
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        grad = dout[row, lane] if inside else float32(0)
        less[j] = grad * out[row, lane] if inside else float32(0)
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        dout_tile[top + j, lane] = grad
        log[j] = lse[row] if inside else INFINITY
        if log[j] == -INFINITY:
            log[j] = INFINITY
        sums[j] = float32(0)
    for j in range(EACH):
        for bit in range(5):
            less[j] += cuda.shfl_xor_sync(ALL_LANES, less[j], 1 << bit)
        row = first + top + j
        if row < n and lane == 0:
            delta[row] = less[j]
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
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            key = k_tile[lane, c]
            value = v_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * key
                slope[j] += dout_tile[top + j, c] * value
        for j in range(EACH):
            p = math.exp(score[j] - log[j])
            ds = p * (slope[j] - less[j])
            ds_tile[top + j, lane] = ds if start + lane < m else float32(0)
        cuda.syncwarp()
        for i in range(TILE):
            key = k_tile[i, lane]
            for j in range(EACH):
                sums[j] += ds_tile[top + j, i] * key
        start += TILE
    for j in range(EACH):
        row = first + top + j
        if row < n:
            dq[row, lane] = sums[j] * scale


# hazard, race, for flash_backward_dkv: Brings the next tile while other warps still read this one.
@cuda.jit
def dkv_no_barrier(dk, dv, dout, q, k, v, lse, delta, n, m, scale):
    k_tile = cuda.shared.array((ROWS, D), float32)
    v_tile = cuda.shared.array((ROWS, D), float32)
    q_tile = cuda.shared.array((TILE, PADDED), float32)
    dout_tile = cuda.shared.array((TILE, PADDED), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums_k = cuda.local.array(EACH, float32)
    sums_v = cuda.local.array(EACH, float32)
    queries = cuda.local.array(EACH, float32)
    grads = cuda.local.array(EACH, float32)
    for j in range(EACH):
        key = first + top + j
        inside = key < m
        k_tile[top + j, lane] = k[key, lane] * scale if inside else float32(0)
        v_tile[top + j, lane] = v[key, lane] if inside else float32(0)
        sums_k[j] = float32(0)
        sums_v[j] = float32(0)
    start = 0
    while start < n:
        for j in range(EACH):
            row = uint32(start + top + j)
            queries[j] = q[row, lane] if row < n else float32(0)
            grads[j] = dout[row, lane] if row < n else float32(0)
        mine = uint32(start + lane)
        log = lse[mine] if mine < n else INFINITY
        less = delta[mine] if mine < n else float32(0)
        if log == -INFINITY:
            log = INFINITY
        for j in range(EACH):
            q_tile[top + j, lane] = queries[j]
            dout_tile[top + j, lane] = grads[j]
            score[j] = float32(0)
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            query = q_tile[lane, c]
            grad = dout_tile[lane, c]
            for j in range(EACH):
                score[j] += k_tile[top + j, c] * query
                slope[j] += v_tile[top + j, c] * grad
        for j in range(EACH):
            p = math.exp(score[j] - log)
            p_tile[top + j, lane] = p
            ds_tile[top + j, lane] = p * (slope[j] - less)
        cuda.syncwarp()
        for i in range(TILE):
            query = q_tile[i, lane]
            grad = dout_tile[i, lane]
            for j in range(EACH):
                sums_k[j] += ds_tile[top + j, i] * query
                sums_v[j] += p_tile[top + j, i] * grad
        start += TILE
    for j in range(EACH):
        key = first + top + j
        if key < m:
            dk[key, lane] = sums_k[j] * scale
            dv[key, lane] = sums_v[j]


# hazard, out-of-bounds: Takes every tile for a full one.
@cuda.jit
def no_guard(dq, delta, dout, out, q, k, v, lse, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    dout_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, PADDED), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    log = cuda.local.array(EACH, float32)
    less = cuda.local.array(EACH, float32)
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        grad = dout[row, lane] if inside else float32(0)
        less[j] = grad * out[row, lane] if inside else float32(0)
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        dout_tile[top + j, lane] = grad
        log[j] = lse[row] if inside else INFINITY
        if log[j] == -INFINITY:
            log[j] = INFINITY
        sums[j] = float32(0)
    for j in range(EACH):
        for bit in range(5):
            less[j] += cuda.shfl_xor_sync(ALL_LANES, less[j], 1 << bit)
        row = first + top + j
        if row < n and lane == 0:
            delta[row] = less[j]
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
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            key = k_tile[lane, c]
            value = v_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * key
                slope[j] += dout_tile[top + j, c] * value
        for j in range(EACH):
            p = math.exp(score[j] - log[j])
            ds = p * (slope[j] - less[j])
            ds_tile[top + j, lane] = ds if start + lane < m else float32(0)
        cuda.syncwarp()
        for i in range(TILE):
            key = k_tile[i, lane]
            for j in range(EACH):
                sums[j] += ds_tile[top + j, i] * key
        start += TILE
    for j in range(EACH):
        row = first + top + j
        if row < n:
            dq[row, lane] = sums[j] * scale


# hazard, out-of-bounds, for flash_backward_dkv: Takes every tile for a full one.
@cuda.jit
def dkv_no_guard(dk, dv, dout, q, k, v, lse, delta, n, m, scale):
    k_tile = cuda.shared.array((ROWS, D), float32)
    v_tile = cuda.shared.array((ROWS, D), float32)
    q_tile = cuda.shared.array((TILE, PADDED), float32)
    dout_tile = cuda.shared.array((TILE, PADDED), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums_k = cuda.local.array(EACH, float32)
    sums_v = cuda.local.array(EACH, float32)
    queries = cuda.local.array(EACH, float32)
    grads = cuda.local.array(EACH, float32)
    for j in range(EACH):
        key = first + top + j
        inside = key < m
        k_tile[top + j, lane] = k[key, lane] * scale if inside else float32(0)
        v_tile[top + j, lane] = v[key, lane] if inside else float32(0)
        sums_k[j] = float32(0)
        sums_v[j] = float32(0)
    start = 0
    while start < n:
        for j in range(EACH):
            row = uint32(start + top + j)
            queries[j] = q[row, lane]
            grads[j] = dout[row, lane]
        mine = uint32(start + lane)
        log = lse[mine] if mine < n else INFINITY
        less = delta[mine] if mine < n else float32(0)
        if log == -INFINITY:
            log = INFINITY
        cuda.syncthreads()
        for j in range(EACH):
            q_tile[top + j, lane] = queries[j]
            dout_tile[top + j, lane] = grads[j]
            score[j] = float32(0)
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            query = q_tile[lane, c]
            grad = dout_tile[lane, c]
            for j in range(EACH):
                score[j] += k_tile[top + j, c] * query
                slope[j] += v_tile[top + j, c] * grad
        for j in range(EACH):
            p = math.exp(score[j] - log)
            p_tile[top + j, lane] = p
            ds_tile[top + j, lane] = p * (slope[j] - less)
        cuda.syncwarp()
        for i in range(TILE):
            query = q_tile[i, lane]
            grad = dout_tile[i, lane]
            for j in range(EACH):
                sums_k[j] += ds_tile[top + j, i] * query
                sums_v[j] += p_tile[top + j, i] * grad
        start += TILE
    for j in range(EACH):
        key = first + top + j
        if key < m:
            dk[key, lane] = sums_k[j] * scale
            dv[key, lane] = sums_v[j]


# over-budget, over-budget: Reads keys from global memory again for the sum.
@cuda.jit
def keys_from_memory(dq, delta, dout, out, q, k, v, lse, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    dout_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, PADDED), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    log = cuda.local.array(EACH, float32)
    less = cuda.local.array(EACH, float32)
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        grad = dout[row, lane] if inside else float32(0)
        less[j] = grad * out[row, lane] if inside else float32(0)
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        dout_tile[top + j, lane] = grad
        log[j] = lse[row] if inside else INFINITY
        if log[j] == -INFINITY:
            log[j] = INFINITY
        sums[j] = float32(0)
    for j in range(EACH):
        for bit in range(5):
            less[j] += cuda.shfl_xor_sync(ALL_LANES, less[j], 1 << bit)
        row = first + top + j
        if row < n and lane == 0:
            delta[row] = less[j]
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
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            key = k_tile[lane, c]
            value = v_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * key
                slope[j] += dout_tile[top + j, c] * value
        for j in range(EACH):
            p = math.exp(score[j] - log[j])
            ds = p * (slope[j] - less[j])
            ds_tile[top + j, lane] = ds if start + lane < m else float32(0)
        cuda.syncwarp()
        for i in range(TILE):
            key = k[min(start + i, m - 1), lane]
            for j in range(EACH):
                sums[j] += ds_tile[top + j, i] * key
        start += TILE
    for j in range(EACH):
        row = first + top + j
        if row < n:
            dq[row, lane] = sums[j] * scale


# over-budget, not-shared, for flash_backward_dkv: Lets one lane store all channels of a key.
@cuda.jit
def one_lane_stores(dk, dv, dout, q, k, v, lse, delta, n, m, scale):
    k_tile = cuda.shared.array((ROWS, D), float32)
    v_tile = cuda.shared.array((ROWS, D), float32)
    q_tile = cuda.shared.array((TILE, PADDED), float32)
    dout_tile = cuda.shared.array((TILE, PADDED), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums_k = cuda.local.array(EACH, float32)
    sums_v = cuda.local.array(EACH, float32)
    queries = cuda.local.array(EACH, float32)
    grads = cuda.local.array(EACH, float32)
    for j in range(EACH):
        key = first + top + j
        inside = key < m
        k_tile[top + j, lane] = k[key, lane] * scale if inside else float32(0)
        v_tile[top + j, lane] = v[key, lane] if inside else float32(0)
        sums_k[j] = float32(0)
        sums_v[j] = float32(0)
    start = 0
    while start < n:
        for j in range(EACH):
            row = uint32(start + top + j)
            queries[j] = q[row, lane] if row < n else float32(0)
            grads[j] = dout[row, lane] if row < n else float32(0)
        mine = uint32(start + lane)
        log = lse[mine] if mine < n else INFINITY
        less = delta[mine] if mine < n else float32(0)
        if log == -INFINITY:
            log = INFINITY
        cuda.syncthreads()
        for j in range(EACH):
            q_tile[top + j, lane] = queries[j]
            dout_tile[top + j, lane] = grads[j]
            score[j] = float32(0)
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            query = q_tile[lane, c]
            grad = dout_tile[lane, c]
            for j in range(EACH):
                score[j] += k_tile[top + j, c] * query
                slope[j] += v_tile[top + j, c] * grad
        for j in range(EACH):
            p = math.exp(score[j] - log)
            p_tile[top + j, lane] = p
            ds_tile[top + j, lane] = p * (slope[j] - less)
        cuda.syncwarp()
        for i in range(TILE):
            query = q_tile[i, lane]
            grad = dout_tile[i, lane]
            for j in range(EACH):
                sums_k[j] += ds_tile[top + j, i] * query
                sums_v[j] += p_tile[top + j, i] * grad
        start += TILE
    for j in range(EACH):
        key = first + top + j
        cuda.syncwarp()
        p_tile[top + j, lane] = sums_k[j] * scale
        cuda.syncwarp()
        if key < m:
            if lane == 0:
                for c in range(D):
                    dk[key, c] = p_tile[top + j, c]
            dv[key, lane] = sums_v[j]


# over-budget, over-budget: Gives both tiles rows of D numbers.
@cuda.jit
def tiles_not_padded(dq, delta, dout, out, q, k, v, lse, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    dout_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, D), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    log = cuda.local.array(EACH, float32)
    less = cuda.local.array(EACH, float32)
    score = cuda.local.array(EACH, float32)
    slope = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        grad = dout[row, lane] if inside else float32(0)
        less[j] = grad * out[row, lane] if inside else float32(0)
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        dout_tile[top + j, lane] = grad
        log[j] = lse[row] if inside else INFINITY
        if log[j] == -INFINITY:
            log[j] = INFINITY
        sums[j] = float32(0)
    for j in range(EACH):
        for bit in range(5):
            less[j] += cuda.shfl_xor_sync(ALL_LANES, less[j], 1 << bit)
        row = first + top + j
        if row < n and lane == 0:
            delta[row] = less[j]
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
            slope[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            key = k_tile[lane, c]
            value = v_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * key
                slope[j] += dout_tile[top + j, c] * value
        for j in range(EACH):
            p = math.exp(score[j] - log[j])
            ds = p * (slope[j] - less[j])
            ds_tile[top + j, lane] = ds if start + lane < m else float32(0)
        cuda.syncwarp()
        for i in range(TILE):
            key = k_tile[i, lane]
            for j in range(EACH):
                sums[j] += ds_tile[top + j, i] * key
        start += TILE
    for j in range(EACH):
        row = first + top + j
        if row < n:
            dq[row, lane] = sums[j] * scale

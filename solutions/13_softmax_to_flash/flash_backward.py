"""flash_backward: the gradients, with the weights computed anew.

    flash_backward_dq(dq, delta, dout, out, q, k, v, lse, n, m, scale)
    flash_backward_dkv(dk, dv, dout, q, k, v, lse, delta, n, m, scale)

    dq     float32 (n, D)   to write: the gradient of q
    delta  float32 (n,)     to write: of each query the sum of
                            dout * out over its D channels
    dk     float32 (m, D)   to write: the gradient of k
    dv     float32 (m, D)   to write: the gradient of v
    dout   float32 (n, D)   to read: the gradient of out
    out    float32 (n, D)   to read: what flash_attention gave
    lse    float32 (n,)     to read: likewise
    q      float32 (n, D)   to read
    k      float32 (m, D)   to read
    v      float32 (m, D)   to read
    n      int              how many queries there are, at least one
    m      int              how many keys there are, at least one
    scale  float32          a score is scale times the dot product of a
                            query's row and a key's

Of the forward pass lse is kept, and no weight. For query i and key j

    p  = exp(score - lse[i])
    ds = p * (the dot product of dout[i] and v[j], less delta[i])

dq[i] is scale times the sum of ds * k[j] over all keys, dk[j] scale
times the sum of ds * q[i] over all queries, and dv[j] the sum of
p * dout[i] over all queries.

In the first kernel a block has ROWS queries and goes through tiles of
TILE keys; in the second it has ROWS keys and goes through tiles of TILE
queries. So each sum has one block, and there are no atomics. Each warp
has EACH rows. What a block owns it reads once, and of each tile the two
arrays that it needs. Each thread writes at most EACH cells of each
array. No two lanes of a warp may wait for one bank all the time, and
all arithmetic is float32.

A query whose lse is minus infinity has seen no key: its dq is 0, and it
adds nothing to dk and dv. There are no other infinities and no NaN in
what is read. Scores may be large, and lse may lie far below 0.

Rounding: a result may be off by twice as much as the worst one of the
plain way in float32, which stores all scores.
"""

import math

from numba import cuda, float32, uint32

D = 32
ROWS = 32
TILE = 32
PADDED = 33
EACH = 4
ALL_LANES = 0xFFFFFFFF
INFINITY = float32(math.inf)


@cuda.jit
def flash_backward_dq(dq, delta, dout, out, q, k, v, lse, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    dout_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, PADDED), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    # answer
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
    # end answer


@cuda.jit
def flash_backward_dkv(dk, dv, dout, q, k, v, lse, delta, n, m, scale):
    k_tile = cuda.shared.array((ROWS, D), float32)
    v_tile = cuda.shared.array((ROWS, D), float32)
    q_tile = cuda.shared.array((TILE, PADDED), float32)
    dout_tile = cuda.shared.array((TILE, PADDED), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    ds_tile = cuda.shared.array((ROWS, TILE), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    # answer
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
        # Lanes are queries here, and channels further down.
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
    # end answer

"""attention_naive: attention as it is written first, score by score.

    scores(s, q, k, n, m, scale)
    weights(s, n, m)
    weighted_sum(out, s, v, n, m)

    s      float32 (n, m)   in between, yours to fill: a number for each
                            query and key
    q      float32 (n, D)   to read: one query a row
    k      float32 (m, D)   to read: one key a row
    v      float32 (m, D)   to read: one value a row
    out    float32 (n, D)   to write: out[i] is the sum of p * v[j] over
                            all keys j, where p is the share of j in the
                            softmax of the scores of query i
    n, m   int              how many queries and keys there are
    scale  float32          a score is scale times the sum of
                            q[i, c] * k[j, c] over all channels c

Three launches, one after the other: the scores, their softmax, the sum
of the values. A block has WARPS warps, and each warp has a query of its
own. Each thread writes at most one cell of out, and every 32nd key's
number of a row of s. Each launch may read every key or value once for
each query, in order, and a number of s three times at most; s is
written twice, and out once. All arithmetic is float32.

There are at least one query and one key. Scores may be large: no
exponential may overflow. A score of minus infinity counts nothing; a
query that has no other gets weights of 0. A score that is NaN or plus
infinity makes NaN of its query's weights, and of no other's. No product
of a weight and a value is left out: 0 times infinity is NaN.
"""

import math

from numba import cuda, float32, uint32

D = 32
TPB = 128
WARPS = 4
ALL_LANES = 0xFFFFFFFF
# answer
PADDED = 33
LOWEST = float32(-3.4028234663852886e38)
# end answer


@cuda.jit
def scores(s, q, k, n, m, scale):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    # answer
    queries = cuda.shared.array((WARPS, D), float32)
    tile = cuda.shared.array((WARPS, 32, PADDED), float32)
    warp = t // 32
    if row >= n:
        return
    queries[warp, lane] = q[row, lane] * scale
    for start in range(0, m, 32):
        # Lanes are channels on the way in, and keys on the way out.
        count = min(32, m - start)
        for j in range(count):
            tile[warp, j, lane] = k[uint32(start + j), lane]
        cuda.syncwarp()
        if lane < count:
            score = float32(0)
            for c in range(D):
                score += queries[warp, c] * tile[warp, lane, c]
            s[row, uint32(start + lane)] = score
        cuda.syncwarp()
    # end answer


@cuda.jit
def weights(s, n, m):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    # answer
    if row >= n:
        return
    most = LOWEST
    for key in range(lane, m, 32):
        most = max(most, s[row, key])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
        offset //= 2
    total = float32(0)
    for key in range(lane, m, 32):
        total += math.exp(s[row, key] - most)
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    part = float32(1) / (total if total != float32(0) else float32(1))
    for key in range(lane, m, 32):
        s[row, key] = math.exp(s[row, key] - most) * part
    # end answer


@cuda.jit
def weighted_sum(out, s, v, n, m):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    # answer
    if row >= n:
        return
    total = float32(0)
    for start in range(0, m, 32):
        key = uint32(start + lane)
        own = s[row, key] if key < m else float32(0)
        for j in range(min(32, m - start)):
            weight = cuda.shfl_sync(ALL_LANES, own, j)
            total += weight * v[uint32(start + j), lane]
    out[row, lane] = total
    # end answer

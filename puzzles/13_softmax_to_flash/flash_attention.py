"""flash_attention: attention in one pass over tiles of keys.

    flash_attention(out, lse, q, k, v, n, m, scale)

    out    float32 (n, D)   to write: out[i] is the sum of p * v[j] over
                            all keys j, where p is exp(score - lse[i])
    lse    float32 (n,)     to write: the log of the sum of exp(score)
                            over all keys
    q      float32 (n, D)   to read: one query a row
    k      float32 (m, D)   to read: one key a row
    v      float32 (m, D)   to read: one value a row
    n      int              how many queries there are, at least one
    m      int              how many keys there are; there may be none
    scale  float32          a score is scale times the dot product of a
                            query's row and a key's

Each block has ROWS queries and WARPS warps, and each of its warps EACH
queries. Scores are never stored in global memory: a block reads its
queries once, and each key and each value once, TILE rows at a time.
That is 4 * D * (n + 2 * m * blocks) bytes. Each thread writes at most
EACH cells of out and of lse. No two lanes of a warp may wait for one
bank all the time, and all arithmetic is float32.

Scores may be large: no exponential may overflow. Where there is no key,
out is 0 and lse is minus infinity. A score of minus infinity counts
nothing, and where a query has no other, it is as if there were no key.
A score that is NaN or plus infinity makes NaN of its query's out and
lse, and of no other's. v has finite numbers.

Rounding: a result may be off by twice as much as the worst one of the
plain way in float32, which stores all scores.
"""

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


@cuda.jit
def flash_attention(out, lse, q, k, v, n, m, scale):
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
    # The warp's queries are first + top + j, for j below EACH.
    # your code here (about 55 lines)

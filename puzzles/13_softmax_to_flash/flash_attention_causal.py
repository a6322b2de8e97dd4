"""flash_attention_causal: no query sees what comes after it.

    flash_attention_causal(out, lse, q, k, v, n, m, scale)

    out    float32 (n, D)   to write: out[i] is the sum of p * v[j] over
                            the keys j that query i sees, where p is
                            exp(score - lse[i])
    lse    float32 (n,)     to write: the log of the sum of exp(score)
                            over the same keys
    q      float32 (n, D)   to read: one query a row
    k      float32 (m, D)   to read: one key a row
    v      float32 (m, D)   to read: one value a row
    n      int              how many queries there are, at least one
    m      int              how many keys there are; there may be none
    scale  float32          a score is scale times the dot product of a
                            query's row and a key's

The queries are the last n of a sequence of m tokens: the last query
sees every key, and query i sees key j if j <= i + m - n. So the corner
of the mask is at the bottom right, as in flash-attention since 2.1;
torch's `is_causal=True` has it at the top left, where query i sees key
j if j <= i. With n == m both are the same.

All else is as in flash_attention: ROWS queries in a block, WARPS warps,
EACH queries in a warp, TILE keys in a tile. Each thread writes at most
EACH cells of out and of lse. A tile in which no query of the block sees
a key is not read: the bytes loaded are those of the queries, and of the
tiles that are not hidden as a whole. All arithmetic is float32.

A query that sees no key has 0 in out and minus infinity in lse. A score
of minus infinity counts nothing. One that is NaN or plus infinity makes
NaN of the rows of those queries that see it, and of no others: what is
hidden has no effect, whatever k holds. v has finite numbers.

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
def flash_attention_causal(out, lse, q, k, v, n, m, scale):
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
    # your code here (about 57 lines)

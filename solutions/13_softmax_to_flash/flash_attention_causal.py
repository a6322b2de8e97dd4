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
    # answer
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
    # The block's last query sees more keys than all the others.
    end = min(m, first + ROWS + m - n)
    start = 0
    while start < end:
        # All loads come first: they travel while others still compute.
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
        # Lanes are keys: each has one score of each query.
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            seen = start + lane <= first + top + j + m - n
            s = score[j] if seen else NOTHING
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
        # Lanes are channels: each adds up one number of each query.
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
    # end answer

"""flash_decode: one query, its keys split over many blocks.

    flash_decode(part_out, part_lse, q, k, v, m, chunk, scale)
    flash_decode_merge(out, lse, part_out, part_lse, splits)

    part_out  float32 (splits, D)   to write: attention over the keys of
                                    each split alone
    part_lse  float32 (splits,)     to write: the log of the split's sum
                                    of exp(score)
    q         float32 (D,)          to read: the one query
    k         float32 (m, D)        to read: one key a row
    v         float32 (m, D)        to read: one value a row
    m         int                   how many keys there are; there may
                                    be none
    chunk     int                   how many keys a split has, a
                                    multiple of WARPS * TILE; the last
                                    splits may have fewer, or none
    scale     float32               a score is scale times the dot
                                    product of the query and a key's row
    out       float32 (D,)          to write: attention over all keys
    lse       float32 (1,)          to write: the log of the sum of
                                    exp(score) over all keys
    splits    int                   how many splits there are

Split s has the keys from s * chunk on, as far as there are any, and a
block of its own with WARPS warps. Each key and each value is read once.
The second kernel has one warp, and merges what the splits have found.
Each thread writes at most one cell of each array. No two lanes of a
warp may wait for one bank all the time, and all arithmetic is float32.

Scores may be large: no exponential may overflow. A split without a key
has 0 in part_out and minus infinity in part_lse, and weighs nothing.
Where no split has a key, the same stands in out and lse. A score of
minus infinity counts nothing; one that is NaN or plus infinity makes
NaN of its split and of the whole. v has finite numbers.

Rounding: a result may be off by twice as much as the worst one of the
plain way in float32, which stores all scores.
"""

import math

from numba import cuda, float32, uint32

D = 32
TILE = 32
PADDED = 33
WARPS = 4
ALL_LANES = 0xFFFFFFFF
LOWEST = float32(-3.4028234663852886e38)
NOTHING = float32(-math.inf)
# answer
AT_ONCE = 8
# end answer


@cuda.jit
def flash_decode(part_out, part_lse, q, k, v, m, chunk, scale):
    q_tile = cuda.shared.array(D, float32)
    k_tile = cuda.shared.array((WARPS, TILE, PADDED), float32)
    found = cuda.shared.array((WARPS, D), float32)
    pairs = cuda.shared.array((2, WARPS), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    warp = uint32(cuda.threadIdx.x) // 32
    split = uint32(cuda.blockIdx.x)
    # answer
    here = cuda.local.array(AT_ONCE, float32)
    if warp == 0:
        q_tile[lane] = q[lane] * scale
    cuda.syncthreads()
    end = min(m, (split + 1) * chunk)
    most = LOWEST
    part = float32(0)
    total = float32(0)
    # A warp has tiles of its own, and waits for no other.
    start = split * chunk + warp * TILE
    while start < end:
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = k[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                k_tile[warp, i + j, lane] = here[j]
        cuda.syncwarp()
        s = float32(0)
        for c in range(D):
            s += q_tile[c] * k_tile[warp, lane, c]
        if start + lane >= end:
            s = NOTHING
        new = s
        for bit in range(5):
            other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
            new = max(new, other)
        new = max(new, most)
        p = math.exp(s - new)
        shrink = math.exp(most - new)
        part = part * shrink + p
        total *= shrink
        most = new
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = v[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                total += cuda.shfl_sync(ALL_LANES, p, i + j) * here[j]
        cuda.syncwarp()
        start += WARPS * TILE
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    found[warp, lane] = total
    if lane == 0:
        pairs[0, warp] = most
        pairs[1, warp] = part
    cuda.syncthreads()
    if warp == 0:
        new = LOWEST
        for w in range(WARPS):
            new = max(new, pairs[0, w])
        part = float32(0)
        total = float32(0)
        for w in range(WARPS):
            weight = math.exp(pairs[0, w] - new)
            part += pairs[1, w] * weight
            total += found[w, lane] * weight
        some = part != float32(0)
        part_out[split, lane] = total / part if some else float32(0)
        if lane == 0:
            part_lse[split] = new + math.log(part)
    # end answer


@cuda.jit
def flash_decode_merge(out, lse, part_out, part_lse, splits):
    lane = uint32(cuda.threadIdx.x)
    # answer
    most = LOWEST
    for split in range(lane, splits, 32):
        most = max(most, part_lse[split])
    for bit in range(5):
        other = cuda.shfl_xor_sync(ALL_LANES, most, 1 << bit)
        most = max(most, other)
    part = float32(0)
    total = float32(0)
    for first in range(0, splits, 32):
        split = uint32(first + lane)
        weight = float32(0)
        if split < splits:
            weight = math.exp(part_lse[split] - most)
        part += weight
        for j in range(min(32, splits - first)):
            share = cuda.shfl_sync(ALL_LANES, weight, j)
            total += share * part_out[uint32(first + j), lane]
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    some = part != float32(0)
    out[lane] = total / part if some else float32(0)
    if lane == 0:
        lse[0] = most + math.log(part)
    # end answer

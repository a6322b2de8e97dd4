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
# your code here (about 1 line)


@cuda.jit
def flash_decode(part_out, part_lse, q, k, v, m, chunk, scale):
    q_tile = cuda.shared.array(D, float32)
    k_tile = cuda.shared.array((WARPS, TILE, PADDED), float32)
    found = cuda.shared.array((WARPS, D), float32)
    pairs = cuda.shared.array((2, WARPS), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    warp = uint32(cuda.threadIdx.x) // 32
    split = uint32(cuda.blockIdx.x)
    # your code here (about 61 lines)


@cuda.jit
def flash_decode_merge(out, lse, part_out, part_lse, splits):
    lane = uint32(cuda.threadIdx.x)
    # your code here (about 23 lines)

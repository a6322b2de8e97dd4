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
# your code here (about 2 lines)


@cuda.jit
def scores(s, q, k, n, m, scale):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    # your code here (about 17 lines)


@cuda.jit
def weights(s, n, m):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    # your code here (about 19 lines)


@cuda.jit
def weighted_sum(out, s, v, n, m):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    # your code here (about 10 lines)

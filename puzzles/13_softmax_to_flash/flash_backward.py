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
    # your code here (about 57 lines)


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
    # your code here (about 54 lines)

"""batched_matmul: the scores of attention, a matrix for each head.

    batched_matmul(out, q, keys, m, n, k)

    out   float32 (batch, m, n)   to write: out[z, row, col] is the sum
                                  of q[z, row, p] * keys[z, col, p]
                                  over all p below k
    q     float32 (batch, m, k)   to read: a row for each query
    keys  float32 (batch, n, k)   to read: a row for each key
    m     int                     how many queries there are
    n     int                     how many keys there are
    k     int                     how long a query or a key is

A block of TILE by TILE threads makes a square of out[z], where z is
blockIdx.z, and each thread writes at most one cell. Load in order, each
number once for a block, and let no lane wait for a bank when it reads a
tile. Both inputs have p along their rows, so this is a product with a
transposed matrix. Both tiles are yours to lay out. Numba wants a plain
name or number for each side of a tile: `TILE + 1` within the call is
refused.

m, n and k are 1 or more. NaN and infinities count as in any sum, and 0
times infinity is NaN: no product is left out.
"""

from numba import cuda, float32, uint32

TILE = 16
# your code here (about 1 line)


@cuda.jit
def batched_matmul(out, q, keys, m, n, k):
    x = uint32(cuda.threadIdx.x)
    y = uint32(cuda.threadIdx.y)
    z = cuda.blockIdx.z
    top = uint32(cuda.blockIdx.y) * TILE
    left = uint32(cuda.blockIdx.x) * TILE
    total = float32(0)
    # your code here (about 17 lines)

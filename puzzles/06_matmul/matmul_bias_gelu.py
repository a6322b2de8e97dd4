"""matmul_bias_gelu: a layer in one kernel.

    matmul_bias_gelu(out, a, w, bias, m, n, k)

    out   float32 (m, n)   to write: out[row, col] is gelu(v), where v
                           is bias[col] and the sum of
                           a[row, p] * w[p, col] over all p below k
    a     float32 (m, k)   to read
    w     float32 (k, n)   to read: the weights
    bias  float32 (n,)     to read
    m     int              how many rows a and out have
    n     int              how many columns w and out have
    k     int              how many products a result adds up

gelu(v) = v / 2 * (1 + erf(v / sqrt(2))). The stub is matmul_tiled up to
the sum, and each thread writes at most one cell. What comes after the
product has to happen before the sum leaves its register, and in
float32. Numba has erf as `math.erf`; of a float32 it is a float32.

m, n and k are 1 or more. NaN and infinities go the way of the formula:
0 times infinity is NaN, and so is gelu of minus infinity.
"""

import math

from numba import cuda, float32, uint32

TILE = 16
# your code here (about 3 lines)


@cuda.jit
def matmul_bias_gelu(out, a, w, bias, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    w_tile = cuda.shared.array((TILE, TILE), float32)
    x = uint32(cuda.threadIdx.x)
    y = uint32(cuda.threadIdx.y)
    col, row = cuda.grid(2)
    total = float32(0)
    start = 0
    while start < k:
        a_here = row < m and start + x < k
        w_here = start + y < k and col < n
        a_tile[y, x] = a[row, start + x] if a_here else float32(0)
        w_tile[y, x] = w[start + y, col] if w_here else float32(0)
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * w_tile[p, x]
        cuda.syncthreads()
        start += TILE
    # your code here (about 3 lines)

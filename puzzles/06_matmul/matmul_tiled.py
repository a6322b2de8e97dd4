"""matmul_tiled: a matrix product through tiles.

    matmul_tiled(out, a, b, m, n, k)

    out  float32 (m, n)   to write: out[row, col] is the sum of
                          a[row, p] * b[p, col] over all p below k
    a    float32 (m, k)   to read
    b    float32 (k, n)   to read
    m    int              how many rows a and out have
    n    int              how many columns b and out have
    k    int              how many products a result adds up

A block of TILE by TILE threads makes a square of out, and each thread
writes at most one cell. The block goes along its rows of a and down its
columns of b, a square of each at a time, and loads each number once. No
lane may wait for another's bank. No side needs to be a multiple of
TILE.

m, n and k are 1 or more. NaN and infinities count as in any sum, and 0
times infinity is NaN: no product is left out.
"""

from numba import cuda, float32, uint32

TILE = 16


@cuda.jit
def matmul_tiled(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    x = uint32(cuda.threadIdx.x)
    y = uint32(cuda.threadIdx.y)
    col, row = cuda.grid(2)
    total = float32(0)
    # your code here (about 13 lines)

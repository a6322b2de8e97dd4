"""matmul_register: 64 results in each thread's registers.

    matmul_register(out, a, b, m, n, k)

    out  float32 (m, n)   to write: out[row, col] is the sum of
                          a[row, p] * b[p, col] over all p below k
    a    float32 (m, k)   to read
    b    float32 (k, n)   to read
    m    int              how many rows a and out have
    n    int              how many columns b and out have
    k    int              how many products a result adds up

A block has EACH by EACH threads and makes a square of TILE by TILE
cells of out. Each thread makes 64 cells of the square, EACH by EACH of
them: those in rows y, y + EACH and so on, and columns x, x + EACH and
so on. It keeps their sums to itself, and for every p it takes the 8
numbers of a and the 8 of b that it needs once. No lane may wait for
another's bank. The tiles are K_TILE deep. `cuda.local.array` makes an
array of the thread's own; with a fixed size and loops of fixed length
the compiler keeps it in registers. The stub fills the tiles.

An index that is a uint32 cannot be negative, and a while loop has one
counter where Numba's range has two: both spare instructions.

m, n and k are 1 or more. NaN and infinities count as in any sum, and 0
times infinity is NaN: no product is left out.
"""

from numba import cuda, float32, uint32

TILE = 64
K_TILE = 8
EACH = 8


@cuda.jit
def matmul_register(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, K_TILE), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = uint32(cuda.threadIdx.x)
    y = uint32(cuda.threadIdx.y)
    t = y * EACH + x
    top = uint32(cuda.blockIdx.y) * TILE
    left = uint32(cuda.blockIdx.x) * TILE
    for i in range(EACH):
        for j in range(EACH):
            sums[i, j] = float32(0)
    start = 0
    while start < k:
        # All 16 loads begin before the first number is waited for.
        for i in range(EACH):
            row = top + y + i * EACH
            inside = row < m and start + x < k
            a_here[i] = a[row, start + x] if inside else float32(0)
            inside = start + i < k and left + t < n
            b_here[i] = b[start + i, left + t] if inside else float32(0)
        for i in range(EACH):
            a_tile[y + i * EACH, x] = a_here[i]
            b_tile[i, t] = b_here[i]
        # your code here (about 11 lines)
        start += K_TILE
    # your code here (about 6 lines)

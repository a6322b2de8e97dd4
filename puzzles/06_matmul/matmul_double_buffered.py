"""matmul_double_buffered: the next tiles travel while these are used.

    matmul_double_buffered(out, a, b, m, n, k)

    out  float32 (m, n)   to write: out[row, col] is the sum of
                          a[row, p] * b[p, col] over all p below k
    a    float32 (m, k)   to read
    b    float32 (k, n)   to read
    m    int              how many rows a and out have
    n    int              how many columns b and out have
    k    int              how many products a result adds up

The block, its square of out and the cells of a thread are those of
matmul_vectorized: each thread makes 64 cells of the square, in fours
that are neighbours. There is room for two tiles of a and two of b,
which are used in turn, with one barrier for each step of K_TILE. Ask
for the numbers of the next tiles before you multiply with these, so
that they can travel meanwhile. The stub loads the first of each into
a_next and b_next, which lie in registers: a_next[i] belongs at row x
and column y + i * EACH of the tile of a, b_next[i] at row i and column
t of the tile of b.

m, n and k are 1 or more. NaN and infinities count as in any sum, and 0
times infinity is NaN: no product is left out.
"""

from numba import cuda, float32, uint32

TILE = 64
K_TILE = 8
EACH = 8
FOUR = 4
HALF = 32
PADDED = TILE + 4


@cuda.jit
def matmul_double_buffered(out, a, b, m, n, k):
    a_tile = cuda.shared.array((2, K_TILE, PADDED), float32)
    b_tile = cuda.shared.array((2, K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_next = cuda.local.array(EACH, float32)
    b_next = cuda.local.array(EACH, float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = uint32(cuda.threadIdx.x)
    y = uint32(cuda.threadIdx.y)
    t = y * EACH + x
    top = uint32(cuda.blockIdx.y) * TILE
    left = uint32(cuda.blockIdx.x) * TILE
    for i in range(EACH):
        row = top + y + i * EACH
        inside = row < m and x < k
        a_next[i] = a[row, x] if inside else float32(0)
        inside = i < k and left + t < n
        b_next[i] = b[i, left + t] if inside else float32(0)
        for j in range(EACH):
            sums[i, j] = float32(0)
    # your code here (about 27 lines)
    for i in range(EACH):
        for j in range(EACH):
            row = top + i // FOUR * HALF + y * FOUR + i % FOUR
            col = left + j // FOUR * HALF + x * FOUR + j % FOUR
            if row < m and col < n:
                out[row, col] = sums[i, j]

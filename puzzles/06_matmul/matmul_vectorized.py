"""matmul_vectorized: four numbers with each load from a tile.

    matmul_vectorized(out, a, b, m, n, k)

    out  float32 (m, n)   to write: out[row, col] is the sum of
                          a[row, p] * b[p, col] over all p below k
    a    float32 (m, k)   to read
    b    float32 (k, n)   to read
    m    int              how many rows a and out have
    n    int              how many columns b and out have
    k    int              how many products a result adds up

The block and its square of out are those of matmul_register. Each
thread makes 64 cells of the square. A GPU can load four float32 with
one instruction, if they are neighbours and begin at a multiple of four.
So give each thread its rows and its columns in fours that are
neighbours, and lay out the tile of a so that its numbers are neighbours
too. For every p a thread takes two fours of a and two of b, and makes
64 products of them. No lane may wait for another's bank.

The kernel stays plain: four neighbours are four lines or turns of a
loop, and the compiler joins them. It sees by itself that they begin at
a multiple of four where the rows of a tile do, and where x and y are
uint32. The stub loads the numbers of both matrices: a_here[i] is of row
y + i * EACH and column x of the block's piece of a, and b_here[i] of
row i and column t of that of b.

m, n and k are 1 or more. NaN and infinities count as in any sum, and 0
times infinity is NaN: no product is left out.
"""

from numba import cuda, float32, uint32

TILE = 64
K_TILE = 8
EACH = 8
FOUR = 4
HALF = 32
# your code here (about 1 line)


@cuda.jit
def matmul_vectorized(out, a, b, m, n, k):
    # your code here (about 2 lines)
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
        # your code here (about 16 lines)
        start += K_TILE
    # your code here (about 6 lines)

"""matmul_naive: a matrix product, a thread for each result.

    matmul_naive(out, a, b, m, n, k)

    out  float32 (m, n)   to write: out[row, col] is the sum of
                          a[row, p] * b[p, col] over all p below k
    a    float32 (m, k)   to read
    b    float32 (k, n)   to read
    m    int              how many rows a and out have
    n    int              how many columns b and out have
    k    int              how many products a result adds up

A block has 32 threads along x and 8 along y, and there are enough
blocks for every cell of out. Which of the two sides of out runs along x
is for you to say: the grid covers both ways. Each thread writes at most
one cell, and once. Loads and stores must be in order, and all
arithmetic in float32.

m, n and k are 1 or more. NaN and infinities count as in any sum, and 0
times infinity is NaN: no product is left out.
"""

from numba import cuda, float32


@cuda.jit
def matmul_naive(out, a, b, m, n, k):
    # your code here (about 8 lines)
    pass

"""even_odd_uniform: two polynomials, and no warp that computes both.

    even_odd_uniform(out, a, p, q, size)

    out   float32 (size,)    to write, with x = a[i]:
                             (p[0] * x + p[1]) * x + p[2] for even i,
                             (q[0] * x + q[1]) * x + q[2] for odd i
    a     float32 (size,)    to read
    p, q  float32 (TERMS,)   coefficients, the highest power first
    size  int                how many cells there are

Blocks of TPB threads, enough of them for all cells. Each thread writes
at most one cell, and you choose which. No branch but the guard's may
split a warp; a warp loads p or q, and computes one polynomial. a, p and
q hold no NaN and no infinities.
"""

from numba import cuda

TPB = 64
TERMS = 3


@cuda.jit
def even_odd_uniform(out, a, p, q, size):
    # your code here (about 14 lines)
    pass

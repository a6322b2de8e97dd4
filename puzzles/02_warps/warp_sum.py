"""warp_sum: 32 lanes come to one sum.

    warp_sum(out, a, size)

    out   float32 (warps,)   to write: out[w] is the sum of a[32 * w] to
                             a[32 * w + 31]; the last warp may have
                             fewer numbers
    a     float32 (size,)    to read
    size  int                how many numbers there are

Blocks of TPB threads, enough of them for all numbers. Each thread loads
one number. Each thread writes at most one cell, and of the lanes of a
warp at most one does. The numbers meet by five shuffles for each warp,
and not by way of memory. NaN and infinities count as in any sum.
"""

from numba import cuda, float32

TPB = 64
ALL = 0xFFFFFFFF  # a mask that names all 32 lanes


@cuda.jit
def warp_sum(out, a, size):
    i = cuda.grid(1)
    # your code here (about 5 lines)

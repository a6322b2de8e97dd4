"""ballot_count: 32 lanes vote, and the votes are counted.

    ballot_count(out, a, limit, size)

    out    float32 (warps,)   to write: out[w] is how many of a[32 * w]
                              to a[32 * w + 31] are larger than limit;
                              the last warp may have fewer numbers
    a      float32 (size,)    to read
    limit  float32
    size   int                how many numbers there are

Blocks of TPB threads, enough of them for all numbers. Each thread looks
at one number. Each thread writes at most one cell, and of the lanes of
a warp at most one does. The lanes count by votes alone: no shuffle, and
nothing by way of memory. NaN is not larger than any limit, and infinity
is larger than each.
"""

from numba import cuda

TPB = 64
ALL = 0xFFFFFFFF  # a mask that names all 32 lanes


@cuda.jit
def ballot_count(out, a, limit, size):
    i = cuda.grid(1)
    # your code here (about 4 lines)

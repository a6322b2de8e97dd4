"""warp_max_all: every lane learns the largest number of its warp.

    warp_max_all(out, a, size)

    out   float32 (size,)   to write: out[i] is the largest number that
                            the warp of thread i has loaded; the last
                            warp may have fewer than 32
    a     float32 (size,)   to read
    size  int               how many numbers there are

Blocks of TPB threads, enough of them for all numbers. Each thread loads
one number, and each thread writes at most one cell. The numbers meet by
five shuffles for each warp, and not by way of memory. a holds no NaN;
it may hold infinities, and a warp nothing but minus infinity.
"""

import math

from numba import cuda, float32

TPB = 64
ALL = 0xFFFFFFFF  # a mask that names all 32 lanes


@cuda.jit
def warp_max_all(out, a, size):
    i = cuda.grid(1)
    # your code here (about 6 lines)
